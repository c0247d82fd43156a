//! From text to [`Node`]s. CEL's own parser reads the text, with its macros left as calls so that `list.exists(x, ...)`
//! stays what the author wrote; this file turns its tree into ours, refuses the parts of CEL that facts do not have
//! (unsigned numbers, bytes, messages, optionals), and puts the parser's complaints into words.

use std::ops::Range;
use std::vec::IntoIter;

use cel::Env;
use cel::common::ast::{
    CallExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, SelectExpr, SourceInfo, operators,
};
use cel::parser::ParseErrors;

use super::Fault;
use super::scan::{Brackets, scan};
use super::tree::{Each, Kind, Name, Node, Operator, Quantifier, Style};

pub(super) fn parse(source: &str) -> Result<Node, Fault> {
    let brackets = scan(source)?;
    let parser = Env::default().parser().enable_optional_syntax(false);
    let (tree, places) = parser.parse_with_source_info(source).map_err(|errors| in_words(source, &errors))?;
    Lowering { source, brackets, places }.node(tree)
}

struct Lowering<'s> {
    source: &'s str,
    brackets: Brackets,
    places: SourceInfo,
}

impl Lowering<'_> {
    fn node(&self, tree: IdedExpr) -> Result<Node, Fault> {
        let token = self.token(tree.id);
        match tree.expr {
            Expr::Literal(literal) => Ok(Node { kind: literal_kind(literal, &token)?, range: token }),
            Expr::Ident(name) if name.starts_with('.') => {
                Err(Fault::new(token, "a name cannot start with `.`").helped("leave the `.` out"))
            }
            Expr::Ident(name) => Ok(Node { kind: Kind::Name(name), range: token }),
            Expr::Select(select) => self.select(select, token),
            Expr::List(list) => self.list(list, token),
            Expr::Map(map) => self.map(map, token),
            Expr::Call(call) => self.call(call, token),
            Expr::Struct(message) => {
                let what = format!("`{}{{...}}` is not known here", message.type_name);
                Err(Fault::new(token, what).helped("a map is written `{'field': value}`"))
            }
            Expr::Comprehension(_) | Expr::Unspecified => Err(Fault::new(token, "this cannot be read")),
        }
    }

    fn select(&self, select: SelectExpr, token: Range<usize>) -> Result<Node, Fault> {
        let operand = Box::new(self.node(*select.operand)?);
        let field = self.word_after(select.field, token.end);
        let range = operand.range.start..field.range.end;
        Ok(Node { kind: Kind::Select { operand, field }, range })
    }

    fn list(&self, list: ListExpr, token: Range<usize>) -> Result<Node, Fault> {
        let items = list.elements.into_iter().map(|item| self.node(item)).collect::<Result<_, _>>()?;
        Ok(Node { kind: Kind::List(items), range: self.bracketed(token) })
    }

    fn map(&self, map: MapExpr, token: Range<usize>) -> Result<Node, Fault> {
        let mut fields: Vec<(String, Node)> = Vec::new();
        for entry in map.entries {
            let EntryExpr::MapEntry(entry) = entry.expr else { continue };
            let key = self.node(entry.key)?;
            let Kind::Text(name) = key.kind else {
                return Err(Fault::new(key.range, "a key in `{...}` has to be a text in quotes"));
            };
            if fields.iter().any(|(known, _)| *known == name) {
                return Err(Fault::new(key.range, format!("the key `{name}` is given twice")));
            }
            fields.push((name, self.node(entry.value)?));
        }
        Ok(Node { kind: Kind::Record(fields), range: self.bracketed(token) })
    }

    fn call(&self, call: CallExpr, token: Range<usize>) -> Result<Node, Fault> {
        if call.target.is_none()
            && let Some(operation) = Operation::of(&call.func_name)
        {
            return self.operation(operation, call.args, token);
        }
        self.function(call, token)
    }

    fn function(&self, call: CallExpr, token: Range<usize>) -> Result<Node, Fault> {
        if call.func_name.starts_with('.') {
            return Err(Fault::new(token, "a function cannot start with `.`").helped("leave the `.` out"));
        }
        let function = self.word_before(call.func_name, token.start);
        let style = if call.target.is_some() { Style::Member } else { Style::Global };
        let target = call.target.map(|target| self.node(*target)).transpose()?;
        let arguments = call.args.into_iter().map(|it| self.node(it)).collect::<Result<Vec<_>, _>>()?;
        let start = target.as_ref().map_or(function.range.start, |target| target.range.start);
        let range = start..self.bracketed(token).end;
        if style == Style::Global && function.text == "has" {
            return has(arguments, range);
        }
        let quantifier = Quantifier::NAMES.iter().find(|(word, _)| *word == function.text);
        match (target, quantifier) {
            (Some(list), Some((_, quantifier))) => each(*quantifier, list, arguments, range),
            (target, _) => {
                let arguments = target.into_iter().chain(arguments).collect();
                Ok(Node { kind: Kind::Call { function, style, arguments }, range })
            }
        }
    }

    // The parts of an operation are read in functions of their own: this is where the depth of a chain is paid, and
    // without optimisation a function pays for the locals of all its branches.
    fn operation(
        &self,
        operation: Operation,
        parts: Vec<IdedExpr>,
        token: Range<usize>,
    ) -> Result<Node, Fault> {
        let mut parts = parts.into_iter();
        match operation {
            Operation::Not | Operation::Negate => self.unary(operation, &mut parts, token),
            Operation::Conditional => self.conditional(&mut parts, token),
            Operation::Index | Operation::And | Operation::Or | Operation::Binary(_) => {
                self.binary(operation, &mut parts, token)
            }
        }
    }

    fn part(&self, parts: &mut IntoIter<IdedExpr>, token: &Range<usize>) -> Result<Box<Node>, Fault> {
        match parts.next() {
            Some(part) => self.node(part).map(Box::new),
            None => Err(Fault::new(token.clone(), "something is missing here")),
        }
    }

    fn unary(
        &self,
        operation: Operation,
        parts: &mut IntoIter<IdedExpr>,
        token: Range<usize>,
    ) -> Result<Node, Fault> {
        let inner = self.part(parts, &token)?;
        let range = token.start..inner.range.end;
        let kind = if let Operation::Not = operation { Kind::Not(inner) } else { Kind::Negate(inner) };
        Ok(Node { kind, range })
    }

    fn conditional(&self, parts: &mut IntoIter<IdedExpr>, token: Range<usize>) -> Result<Node, Fault> {
        let condition = self.part(parts, &token)?;
        let yes = self.part(parts, &token)?;
        let no = self.part(parts, &token)?;
        let range = condition.range.start..no.range.end;
        Ok(Node { kind: Kind::Conditional { condition, yes, no }, range })
    }

    fn binary(
        &self,
        operation: Operation,
        parts: &mut IntoIter<IdedExpr>,
        token: Range<usize>,
    ) -> Result<Node, Fault> {
        let left = self.part(parts, &token)?;
        let right = self.part(parts, &token)?;
        let (start, end) = (left.range.start, right.range.end);
        Ok(match operation {
            Operation::Index => Node {
                kind: Kind::Index { target: left, index: right },
                range: start..self.bracketed(token).end,
            },
            Operation::And => Node { kind: Kind::And(left, right), range: start..end },
            Operation::Binary(operator) => {
                Node { kind: Kind::Binary { operator, left, right }, range: start..end }
            }
            _ => Node { kind: Kind::Or(left, right), range: start..end },
        })
    }

    /// The token a node was made from, kept inside the source whatever the parser says.
    fn token(&self, id: u64) -> Range<usize> {
        let whole = self.source.len();
        let Some((start, last)) = self.places.offset_for(id) else { return 0..whole };
        let at = |offset: u32| usize::try_from(offset).unwrap_or(whole).min(whole);
        let start = self.source.floor_char_boundary(at(start));
        let end = self.source.ceil_char_boundary(at(last.saturating_add(1)));
        start..end.max(start)
    }

    /// From an opening bracket to its end.
    fn bracketed(&self, open: Range<usize>) -> Range<usize> {
        open.start..self.brackets.end_of(open.start).unwrap_or(open.end)
    }

    fn word_after(&self, text: String, from: usize) -> Name {
        let start =
            self.source.get(from..).and_then(|rest| rest.find(&text)).map_or(from, |skipped| from + skipped);
        Name { range: start..(start + text.len()).min(self.source.len()), text }
    }

    fn word_before(&self, text: String, until: usize) -> Name {
        let start = self.source.get(..until).and_then(|rest| rest.rfind(&text)).unwrap_or(until);
        Name { range: start..(start + text.len()).min(self.source.len()), text }
    }
}

#[derive(Clone, Copy)]
enum Operation {
    Not,
    Negate,
    And,
    Or,
    Conditional,
    Index,
    Binary(Operator),
}

impl Operation {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            operators::LOGICAL_NOT => Self::Not,
            operators::NEGATE => Self::Negate,
            operators::LOGICAL_AND => Self::And,
            operators::LOGICAL_OR => Self::Or,
            operators::CONDITIONAL => Self::Conditional,
            operators::INDEX => Self::Index,
            operators::EQUALS => Self::Binary(Operator::Equal),
            operators::NOT_EQUALS => Self::Binary(Operator::Unequal),
            operators::LESS => Self::Binary(Operator::Less),
            operators::LESS_EQUALS => Self::Binary(Operator::LessOrEqual),
            operators::GREATER => Self::Binary(Operator::Greater),
            operators::GREATER_EQUALS => Self::Binary(Operator::GreaterOrEqual),
            operators::IN => Self::Binary(Operator::In),
            operators::ADD => Self::Binary(Operator::Add),
            operators::SUBSTRACT => Self::Binary(Operator::Subtract),
            operators::MULTIPLY => Self::Binary(Operator::Multiply),
            operators::DIVIDE => Self::Binary(Operator::Divide),
            operators::MODULO => Self::Binary(Operator::Modulo),
            _ => return None,
        })
    }
}

fn literal_kind(literal: LiteralValue, token: &Range<usize>) -> Result<Kind, Fault> {
    Ok(match literal {
        LiteralValue::Null => Kind::Null,
        LiteralValue::Boolean(it) => Kind::Bool(*it.inner()),
        LiteralValue::Int(it) => Kind::Int(*it.inner()),
        LiteralValue::Double(it) => Kind::Float(*it.inner()),
        LiteralValue::String(it) => Kind::Text(it.inner().to_owned()),
        LiteralValue::UInt(_) => {
            return Err(
                Fault::new(token.clone(), "facts have no unsigned numbers").helped("leave the `u` out")
            );
        }
        LiteralValue::Bytes(_) => {
            return Err(Fault::new(token.clone(), "facts have no bytes").helped("leave the `b` out"));
        }
    })
}

fn has(arguments: Vec<Node>, range: Range<usize>) -> Result<Node, Fault> {
    match <[Node; 1]>::try_from(arguments) {
        Ok([Node { kind: Kind::Select { operand, field }, .. }]) => {
            Ok(Node { kind: Kind::Has { operand, field }, range })
        }
        _ => {
            Err(Fault::new(range, "`has` asks whether one field is there")
                .helped("write `has(record.field)`"))
        }
    }
}

fn each(
    quantifier: Quantifier,
    list: Node,
    arguments: Vec<Node>,
    range: Range<usize>,
) -> Result<Node, Fault> {
    let count = arguments.len();
    let mut arguments = arguments.into_iter();
    let (variable, first, second) = (arguments.next(), arguments.next(), arguments.next());
    let counted = count == 2 || (count == 3 && quantifier == Quantifier::Map);
    let (Some(Node { kind: Kind::Name(text), range: place }), Some(first), true) = (variable, first, counted)
    else {
        let word = quantifier.word();
        let fault =
            Fault::new(range, format!("`{word}` takes a name for the element and an expression about it"));
        return Err(fault.helped(format!("write `list.{word}(x, ...)`")));
    };
    let (only, body) = match second {
        Some(body) => (Some(first), body),
        None => (None, first),
    };
    let variable = Name { text, range: place };
    Ok(Node { kind: Kind::Each(Box::new(Each { quantifier, list, variable, only, body })), range })
}

/// The first thing the parser could not read, in words. What it reports later is mostly a consequence.
fn in_words(source: &str, errors: &ParseErrors) -> Fault {
    let syntax = errors.errors.iter().find(|error| error.msg.starts_with("Syntax error: "));
    let Some(error) = syntax.or(errors.errors.first()) else {
        return Fault::new(0..source.len(), "this cannot be read");
    };
    let start = offset(source, error.pos);
    let message = error.msg.strip_prefix("Syntax error: ").unwrap_or(&error.msg);
    let rest = source.get(start..).unwrap_or_default();
    if rest.trim().is_empty() {
        let end = source.trim_end().len();
        return Fault::new(end..source.len(), "the expression ends too early");
    }
    let length = rest.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let range = start..start + length.max(first);
    let word = source.get(range.clone()).unwrap_or_default();
    let fault = match message {
        it if it.starts_with("reserved identifier") => {
            format!("`{word}` is a reserved word and cannot be a name")
        }
        it if it.starts_with("invalid int literal") => "this number does not fit into 64 bits".to_owned(),
        it if it.starts_with("invalid") => format!("this cannot be read: {it}"),
        it if it.starts_with("unsupported syntax") => format!("`{word}` cannot be used here"),
        _ => format!("`{word}` is not expected here"),
    };
    let fault = Fault::new(range, fault);
    match word {
        "=" => fault.helped("compare with `==`"),
        "and" | "&" => fault.helped("write `&&`"),
        "or" | "|" => fault.helped("write `||`"),
        "not" => fault.helped("write `!`"),
        "?" | ":" => {
            fault.helped("write `condition ? one : other`; put brackets around a condition inside another")
        }
        _ => fault,
    }
}

/// The byte at a line and column, both counted from one, the column in characters.
fn offset(source: &str, (line, column): (isize, isize)) -> usize {
    let number = |it: isize| usize::try_from(it - 1).unwrap_or(0);
    let mut start = 0;
    for _ in 0..number(line) {
        let Some(length) = source[start..].find('\n') else { return source.len() };
        start += length + 1;
    }
    let skipped: usize = source[start..].chars().take(number(column)).map(char::len_utf8).sum();
    start + skipped
}
