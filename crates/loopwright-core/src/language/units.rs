//! Numbers with units: `30s`, `2h`, `20 usd`, `200k tokens`.

use serde::{Deserialize, Serialize};

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Uses: a transition spends one.
    Uses,
    /// Milliseconds on the clock.
    Time,
    /// Thousandths of a US dollar.
    Money,
    /// Tokens.
    Tokens,
}

/// A number and what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Amount {
    /// In the unit's smallest step.
    pub value: u64,
    /// What it counts.
    pub unit: Unit,
}

/// Reads a span of time in milliseconds.
pub fn time(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    whole(number * factor)
}

/// Reads a number with or without a unit.
pub fn amount(text: &str) -> Option<Amount> {
    if let Ok(value) = text.parse::<u64>() {
        return Some(Amount { value, unit: Unit::Uses });
    }
    if let Some(value) = time(text) {
        return Some(Amount { value, unit: Unit::Time });
    }
    let (number, unit) = split(text)?;
    let (factor, unit) = match unit {
        "usd" | "USD" => (1_000.0, Unit::Money),
        "tokens" => (1.0, Unit::Tokens),
        "k" | "k tokens" => (1_000.0, Unit::Tokens),
        "M" | "M tokens" => (1_000_000.0, Unit::Tokens),
        _ => return None,
    };
    Some(Amount { value: whole(number * factor)?, unit })
}

/// Reads an amount of money, in thousandths of a dollar.
pub fn money(text: &str) -> Option<u64> {
    amount(text).filter(|it| it.unit == Unit::Money).map(|it| it.value)
}

/// Reads an amount of money where the unit is clear without being said, in thousandths of a dollar.
pub fn dollars(text: &str) -> Option<u64> {
    let amount = amount(text)?;
    match amount.unit {
        Unit::Money => Some(amount.value),
        Unit::Uses => amount.value.checked_mul(1000),
        Unit::Time | Unit::Tokens => None,
    }
}

/// Reads a number of tokens.
pub fn tokens(text: &str) -> Option<u64> {
    amount(text).filter(|it| matches!(it.unit, Unit::Tokens | Unit::Uses)).map(|it| it.value)
}

/// A time as a person writes it.
pub fn show_time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, rest) {
        (0, 0, _) => format!("{rest}s"),
        (0, _, 0) => format!("{minutes}m"),
        (0, _, _) => format!("{minutes}m {rest}s"),
        (_, 0, 0) => format!("{hours}h"),
        _ => format!("{hours}h {minutes}m"),
    }
}

/// An amount as a person writes it.
pub fn show(amount: Amount) -> String {
    match amount.unit {
        Unit::Uses => amount.value.to_string(),
        Unit::Time => show_time(amount.value),
        Unit::Money if amount.value.is_multiple_of(1000) => format!("{} usd", amount.value / 1000),
        Unit::Money => {
            format!("{}.{:03} usd", amount.value / 1000, amount.value % 1000).trim_end_matches('0').to_owned()
        }
        Unit::Tokens => format!("{} tokens", amount.value),
    }
}

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.')?;
    Some((text[..end].parse().ok()?, text[end..].trim_start()))
}

fn whole(number: f64) -> Option<u64> {
    const MOST: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "held between zero and 2^53 just before"
    )]
    (number.is_finite() && (0.0..MOST).contains(&number)).then(|| number.round() as u64)
}
