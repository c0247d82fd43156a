//! What an agent says it used. Each counts differently; see [`Usage`] for what is wanted.

use serde_json::Value;

use crate::streams::Usage;

/// What the answer to a prompt says of tokens.
pub(super) fn tokens(result: &Value) -> Usage {
    let usage = &result["usage"];
    if usage.is_object() { counted(usage) } else { counted(&result["_meta"]["quota"]["token_count"]) }
}

fn counted(count: &Value) -> Usage {
    let of = |names: &[&str]| names.iter().find_map(|name| count[*name].as_u64());
    let input = of(&["inputTokens", "input_tokens"]);
    let output = of(&["outputTokens", "output_tokens"]);
    let cached = of(&["cachedReadTokens", "cachedInputTokens", "cached_input_tokens"]);
    let stored = of(&["cachedWriteTokens", "cacheWriteInputTokens"]).unwrap_or(0);
    let total = of(&["totalTokens", "total_tokens"]);
    // Some count what was read before as input and some beside it. The sum tells them apart.
    let together = input.zip(output).map(|(input, output)| input.saturating_add(output));
    let inclusive = total.is_some() && total == together;
    let beside = if inclusive { 0 } else { cached.unwrap_or(0).saturating_add(stored) };
    Usage { input: input.map(|input| input.saturating_add(beside)), cached, output, money: None }
}

/// What a piece of news says of money, in millionths of a dollar.
pub(super) fn money(update: &Value) -> Option<u64> {
    let cost = &update["cost"];
    let amount = cost["amount"].as_f64().filter(|amount| amount.is_finite() && *amount >= 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not below nothing, and saturating is right"
    )]
    (cost["currency"] == "USD").then_some((amount * 1e6).round() as u64)
}
