# Makes a name for a file out of a title: `sh slug.sh "My first post"` prints `my-first-post`.
printf '%s\n' "$1" | tr 'A-Z ' 'a-z-'
