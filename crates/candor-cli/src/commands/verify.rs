//! `candor verify`: checks the signature of a plan.

use candor::signature::{PublicKey, Signature};
use clap::Args;

use super::{read_plan, read_text};
use crate::failure::Failure;
use crate::show::emit;

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor sign --new-key survey.key > survey.pub
  candor sign plan.json --key survey.key
  candor verify plan.json --public-key survey.pub

The exit code is 1 if the plan is not signed with this key, or is not a valid plan. Do not take the public key from
where the plan came from: take it from the source of the client that pins it, or from the signers.")]
pub struct VerifyArgs {
    /// Plan (JSON); - for standard input
    plan: String,
    /// Public key: 64 hexadecimal digits, or a file with them
    #[arg(long, value_name = "KEY")]
    public_key: String,
    /// Signature file [default: the plan's name and .sig]
    #[arg(long, value_name = "plan.json.sig")]
    signature: Option<String>,
}

pub fn run(args: VerifyArgs) -> Result<(), Failure> {
    let key: PublicKey = match args.public_key.parse() {
        Ok(key) => key,
        Err(_) => read_text(&args.public_key)?.parse().map_err(|error| Failure::about(&args.public_key, error))?,
    };
    let file = match (&args.signature, args.plan.as_str()) {
        (Some(signature), _) => signature.clone(),
        (None, "-") => return Err(Failure::Usage("a plan from standard input requires --signature".to_owned())),
        (None, plan) => format!("{plan}.sig"),
    };
    let plan = read_plan(&args.plan)?;
    let signature = Signature::from_json(&read_text(&file)?).map_err(|error| Failure::about(&file, error))?;
    signature.verify(&plan, &key).map_err(|error| Failure::about(&file, error))?;
    emit(&format!("Valid signature: {} was signed with the key {key}.\nPlan: {}\n", args.plan, plan.fingerprint()))
}
