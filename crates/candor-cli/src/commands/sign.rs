//! `candor sign`: signs a plan, or generates the key that signs plans.

use std::path::Path;

use candor::signature::PrivateKey;
use clap::Args;

use super::{read_plan, read_text};
use crate::failure::Failure;
use crate::show::{emit, emit_data, remark};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor sign --new-key survey.key > survey.pub     a private key, and the public key for clients to pin
  candor sign plan.json --key survey.key            writes plan.json.sig
  candor verify plan.json --public-key survey.pub

The signature covers the plan's fingerprint and the version of its format. Keep the private key secret and backed up:
anyone who has it can sign other plans, and without it you cannot sign another plan for clients that pin it.")]
pub struct SignArgs {
    /// Plan (JSON); - for standard input
    #[arg(required_unless_present = "new_key")]
    plan: Option<String>,
    /// File with the private key
    #[arg(long, value_name = "FILE", required_unless_present = "new_key")]
    key: Option<String>,
    /// Generate a private key in this new file, readable by its owner only, and print its public key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "key", "output"])]
    new_key: Option<String>,
    /// Signature file; - for standard output [default: the plan's name and .sig]
    #[arg(short, long, value_name = "plan.json.sig")]
    output: Option<String>,
}

pub fn run(args: SignArgs) -> Result<(), Failure> {
    if let Some(file) = &args.new_key {
        let key = PrivateKey::generate().map_err(|error| Failure::Input(error.to_string()))?;
        key.create(Path::new(file)).map_err(|error| Failure::about(file, error))?;
        remark(&format!("Private key written to {file}: keep it secret. Its public key follows."));
        return emit_data(&format!("{}\n", key.public()));
    }
    let (Some(plan_file), Some(key_file)) = (&args.plan, &args.key) else {
        return Err(Failure::Usage("--key is required to sign a plan".to_owned()));
    };
    let key = PrivateKey::from_json(&read_text(key_file)?).map_err(|error| Failure::about(key_file, error))?;
    let signature = key.sign(&read_plan(plan_file)?);
    let output = match (&args.output, plan_file.as_str()) {
        (Some(output), _) => output.clone(),
        (None, "-") => "-".to_owned(),
        (None, plan) => format!("{plan}.sig"),
    };
    if output == "-" {
        return emit_data(&signature.to_json());
    }
    signature.create(Path::new(&output)).map_err(|error| Failure::about(&output, error))?;
    emit(&format!("Signature written to {output}, made with the key {}.\n", key.public()))
}
