//! x
use anyhow::Result;
pub(crate) fn run(_: &[String]) -> Result<()> {
    Ok(())
}
pub(crate) fn short() -> Result<()> {
    Ok(())
}
