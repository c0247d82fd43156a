//! Pictures of a workflow: Mermaid, DOT and SVG.
