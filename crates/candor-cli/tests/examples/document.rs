//! Examples in Markdown: what is to be run, and what is shown.

/// A command that a document shows, and the output shown below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Example {
    /// Where it is, from 1.
    pub line: usize,
    /// What is run by a shell.
    pub command: String,
    /// The lines of output below it, by number from 0; `None` in a block that shows no output.
    pub shown: Option<std::ops::Range<usize>>,
}

/// The examples of a document: every line of ```` ```sh ```` blocks, and every line after `$ ` of ```` ```console ````
/// blocks. A line that ends in `\` goes on in the next.
pub fn examples(lines: &[String]) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(kind @ ("sh" | "console")) = lines[at].trim_start().strip_prefix("```") else {
            at += 1;
            continue;
        };
        let console = kind == "console";
        at += 1;
        while at < lines.len() && lines[at].trim_start() != "```" {
            let command = if console { lines[at].strip_prefix("$ ") } else { Some(lines[at].as_str()) };
            let Some(command) = command else {
                // A line of output belongs to the command before it.
                if let Some(shown) = found.last_mut().and_then(|example| example.shown.as_mut()) {
                    shown.end = at + 1;
                }
                at += 1;
                continue;
            };
            let (line, mut command) = (at + 1, command.to_owned());
            while command.ends_with('\\') && at + 1 < lines.len() {
                command.pop();
                at += 1;
                command += &lines[at];
            }
            at += 1;
            if !command.trim().is_empty() && !command.trim_start().starts_with('#') {
                found.push(Example { line, command, shown: console.then_some(at..at) });
            }
        }
        at += 1;
    }
    found
}

/// The examples in a help text: the lines below "Examples:", without the remarks beside them.
pub fn examples_of_help(help: &str) -> Vec<Example> {
    let mut lines = help.lines().enumerate().skip_while(|(_, line)| !matches!(*line, "Examples:" | "Example:"));
    lines.next();
    let inside = lines.take_while(|(_, line)| line.starts_with("  "));
    let example = |(at, line): (usize, &str)| {
        let command = line.trim().split("  ").next().unwrap_or_default().to_owned();
        Example { line: at + 1, command, shown: None }
    };
    inside.map(example).collect()
}

/// Stands for lines that are left out, or, inside a line, for what changes from run to run.
const LEFT_OUT: &str = "...";

/// Whether output is what is shown.
pub fn agrees(shown: &[String], output: &[String]) -> bool {
    match (shown.split_first(), output.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first.trim() == LEFT_OUT => {
            (0..=output.len()).any(|skipped| agrees(rest, &output[skipped..]))
        }
        (Some((first, rest)), Some((line, others))) => line_agrees(first, line) && agrees(rest, others),
        _ => false,
    }
}

fn line_agrees(shown: &str, line: &str) -> bool {
    let mut pieces = shown.split(LEFT_OUT);
    let Some(mut left) = line.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return left.is_empty() };
    for piece in pieces {
        match left.split_once(piece) {
            Some((_, rest)) => left = rest,
            None => return false,
        }
    }
    left.ends_with(last)
}

/// What to show of an output: as much of its beginning and end as was shown before, without fingerprints and times.
pub fn to_show(shown: &[String], output: &[String]) -> Vec<String> {
    let output: Vec<String> = output.iter().map(|line| steady(line)).collect();
    let is_gap = |line: &String| line.trim() == LEFT_OUT;
    match (shown.iter().position(is_gap), shown.iter().rposition(is_gap)) {
        (Some(first), Some(last)) if first + (shown.len() - 1 - last) < output.len() => {
            let end = output.len() - (shown.len() - 1 - last);
            [&output[..first], &[LEFT_OUT.to_owned()], &output[end..]].concat()
        }
        _ => output,
    }
}

/// A line with `...` for fingerprints, times, and nothing at its end.
fn steady(line: &str) -> String {
    let mut words: Vec<String> = line.trim_end().split(' ').map(str::to_owned).collect();
    for at in 0..words.len() {
        if let Some(start) = words[at].find("sha256:") {
            let end = words[at][start + 7..]
                .find(|c: char| !c.is_ascii_hexdigit())
                .map_or("", |end| &words[at][start + 7 + end..]);
            words[at] = format!("{}{LEFT_OUT}{end}", &words[at][..start + 7]);
        }
        let time = at > 0 && words[at - 1] == "in" && words[at].parse::<f64>().is_ok();
        if time && words.get(at + 1).is_some_and(|unit| unit == "s" || unit.starts_with("s ")) {
            words[at] = LEFT_OUT.to_owned();
        }
    }
    narrow(words.join(" "))
}

/// Prose on one line of more columns than this is cut; tables are not.
const MAX_PROSE: usize = 100;

/// The columns of what is left of it.
const COLUMNS: usize = 85;

/// The beginning of a long line of prose: whole sentences if there are any, else words.
fn narrow(line: String) -> String {
    if line.chars().count() <= MAX_PROSE || line.trim().contains("  ") || line.ends_with(LEFT_OUT) {
        return line;
    }
    let head: String = line.chars().take(COLUMNS).collect();
    let sentence = [". ", "; "].iter().filter_map(|end| head.rfind(end)).max().filter(|&at| at >= 30);
    let end = sentence.map(|at| at + 1).or_else(|| head.rfind(' ')).unwrap_or(head.len());
    format!("{} {LEFT_OUT}", &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn commands_are_found_with_what_is_shown() {
        let text = "Text\n```sh\ncandor a   # why\n# only a remark\ncandor b \\\n  --c\n```\n```toml\nx = 1\n```\n\
                    ```console\n$ candor d\none\ntwo\n$ candor e\n```\n";
        let found = examples(&lines(text));
        let commands: Vec<&str> = found.iter().map(|example| example.command.as_str()).collect();
        assert_eq!(commands, ["candor a   # why", "candor b   --c", "candor d", "candor e"]);
        assert_eq!(found.iter().map(|example| example.line).collect::<Vec<_>>(), [3, 5, 12, 15]);
        assert_eq!(found[2].shown, Some(12..14));
        assert_eq!(found[3].shown, Some(15..15));
        let help = "Usage\n\nExamples:\n  candor a b          as text\n  candor c\n\nMore:\n  words\n";
        let found: Vec<String> = examples_of_help(help).into_iter().map(|example| example.command).collect();
        assert_eq!(found, ["candor a b", "candor c"]);
    }

    #[test]
    fn outputs_agree_up_to_what_is_left_out() {
        for (shown, output, agree) in [
            ("a\nb", "a\nb", true),
            ("a\nb", "a\nc", false),
            ("a", "a\nb", false),
            ("a\n...", "a\nb\nc", true),
            ("a\n...\nc", "a\nb\nc", true),
            ("a\n...\nd", "a\nb\nc", false),
            ("  ...\n", "", true),
            ("in ... s (plan sha256:...)", "in 0.04 s (plan sha256:ab12)", true),
            ("in ... s", "in 0.04 ms", false),
            ("a ... b ... c", "a 1 b 2 c", true),
            ("a ... b ... c", "a 1 c", false),
        ] {
            assert_eq!(agrees(&lines(shown), &lines(output)), agree, "{shown} / {output}");
        }
    }

    #[test]
    fn what_is_left_out_stays_left_out() {
        assert_eq!(to_show(&lines("x\n...\ny"), &lines("1\n2\n3\n4")), lines("1\n...\n4"));
        assert_eq!(to_show(&[], &lines("made sha256:abc) in 0.04 s")), lines("made sha256:...) in ... s"));
        assert_eq!(to_show(&lines("...\ny"), &lines("1")), lines("1"));
        let long = format!("One sentence of thirty letters. {}", "word ".repeat(20));
        assert_eq!(to_show(&[], std::slice::from_ref(&long)), lines("One sentence of thirty letters. ..."));
        let table = format!("  column  {}", "1.00  ".repeat(20));
        assert_eq!(to_show(&[], std::slice::from_ref(&table)), [table.trim_end()], "columns of tables stay");
    }
}
