//! The help: commands in groups, the options of the selected method, and a welcome.

use candor_design::Method;
use clap::{Arg, Command};

/// The commands by purpose, in the order of a study.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Plan", &["schema", "choose", "compare", "design", "combine", "sample-size"]),
    ("Protect", &["audit", "evidence", "sign", "verify", "randomize", "sql"]),
    ("Ask", &["explain", "collect", "device", "import", "compliance"]),
    ("Learn", &["estimate", "test", "regress", "query", "associations", "party", "rake", "synthesize"]),
    ("Publish", &["report"]),
    ("Research", &["matrix", "pareto", "refine", "reproduce", "experiment"]),
    ("Other", &["studio", "demo", "completions", "man", "help"]),
];

/// Text that is printed without arguments.
pub const WELCOME: &str = "\
candor lets people answer sensitive questions safely, and still learns from the answers.

What people come for:
  See all of it on bundled data        candor demo
  Do all of it in the browser          candor studio
  Plan a survey, or protect a table    candor schema infer people.csv -o schema.toml
                                       candor choose schema.toml --respondents 5000
                                       candor design schema.toml --epsilon 4 -o plan.json
  Explain the promise to respondents   candor explain plan.json -o sheet.html
  Randomize the answers                candor randomize plan.json people.csv -o responses.csv
  Learn from them, and publish         candor estimate plan.json responses.csv
                                       candor report plan.json responses.csv -o report.html

All commands: candor help. One command: candor design -h
";

/// Groups the commands, and limits the options of `design` to those of the method in `words`, the command line.
///
/// Unless the command line can lead to one of these pages, the command is returned unchanged: clap formats all texts
/// for the groups, which takes half of the start.
pub fn shaped(command: Command, words: &[String]) -> Command {
    let asks = |word: &String| ["-h", "--help", "help"].contains(&word.as_str());
    let no_command = words.iter().skip(1).all(|word| word.starts_with('-') && word != "--version");
    if !no_command && !words.iter().any(asks) {
        return command;
    }
    let command = command.mut_subcommand("design", |design| design_help(design, method_named(words)));
    let template = template(&command);
    command.help_template(template)
}

/// Returns the template of the main help, because clap cannot group subcommands.
fn template(command: &Command) -> String {
    let about = |name: &str| {
        let found = command.get_subcommands().find(|known| known.get_name() == name);
        let about = found.and_then(Command::get_about).map(ToString::to_string);
        format!("  {name:<14}{}\n", about.unwrap_or_else(|| "Print this page, or the help of a command".to_owned()))
    };
    let group = |(title, names): &(&str, &[&str])| {
        let lines: String = names.iter().map(|name| about(name)).collect();
        format!("\n{title}:\n{lines}")
    };
    let groups: String = GROUPS.iter().map(group).collect();
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\nOptions:\n{{options}}{{after-help}}")
}

/// Returns the method in the command line, if there is one.
fn method_named(words: &[String]) -> Option<Method> {
    let place = words.iter().position(|word| word == "--method" || word.starts_with("--method="))?;
    let name = match words[place].strip_prefix("--method=") {
        Some(name) => name,
        None => words.get(place + 1)?,
    };
    name.parse().ok()
}

/// `-h` shows the common options and those of the selected method; `--help` shows all.
fn design_help(design: Command, method: Option<Method>) -> Command {
    let common = |parameter: &str| COMMON.contains(&parameter);
    let shown = |arg: &Arg| match parameter(arg.get_id().as_str()) {
        Some(parameter) => method.map_or(common(parameter), |method| method.parameters().contains(&parameter)),
        None => true,
    };
    let hidden: Vec<String> =
        design.get_arguments().filter(|arg| !shown(arg)).map(|arg| arg.get_id().to_string()).collect();
    let design = hidden.into_iter().fold(design, |design, id| design.mut_arg(id, |arg| arg.hide_short_help(true)));
    let more = match method {
        Some(method) => format!("This is what --method {} takes. All methods: candor design --help", method.name()),
        None => "Each method has flags of its own: candor design --method front -h. All of them: candor design --help"
            .to_owned(),
    };
    let examples = design.get_after_help().map(ToString::to_string).unwrap_or_default();
    let first: Vec<&str> = examples.lines().take(SHORT_EXAMPLES).collect();
    let short = format!("{}\n\n{more}", first.join("\n"));
    design.after_long_help(examples).after_help(short)
}

/// Number of lines of examples in the short help.
const SHORT_EXAMPLES: usize = 4;

/// Parameters that are shown without a selected method.
const COMMON: [&str; 2] = ["epsilon", "attribute_epsilon"];

/// Returns the method parameter of an argument; `None` if it is for all methods.
fn parameter(id: &str) -> Option<&str> {
    let parameter = match id {
        "from_clusters" => "clusters",
        "file" => "matrix",
        "from" | "attribute" | "bins" | "normal_prior" | "gamma_prior" | "shape" | "scale" | "uniform_prior" => "prior",
        "exact_prior" => "prior",
        // Every method takes these.
        "tables" | "respondents" => return None,
        id => id,
    };
    Method::with_parameter(parameter).next().map(|_| parameter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_one_group() {
        let command = crate::Command::command();
        let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(known, listed);
    }

    #[test]
    fn short_help_of_design_is_about_the_method_named() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let help = |text: &str| {
            let mut command = shaped(crate::Command::command(), &words(text));
            command.find_subcommand_mut("design").expect("a command").render_help().to_string()
        };
        let (common, front) = (help("candor design -h"), help("candor design --method front -h"));
        assert!(common.contains("--epsilon <E>") && common.contains("--respondents"), "{common}");
        assert!(!common.contains("--posterior-bound") && !common.contains("--lambda"), "{common}");
        assert!(front.contains("--posterior-bound") && front.contains("--normal-prior"), "{front}");
        assert!(!front.contains("--clusters") && !front.contains("--ratio"), "{front}");
        assert_eq!(front, help("candor design --method=front -h"));
        assert!(common.lines().count() < 60, "{common}");
    }
}
