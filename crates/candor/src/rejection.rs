//! Verdict codes of errors, so that programs can distinguish them.

use candor_tables::TableError;
use candor_tables::error::Occupied;

use crate::StudyError;
use crate::verdict::{Code, Verdict};

/// Returns the verdict of a file error: `already-released`, `plan-in-use` or `wrong-plan`, with the error message.
pub fn of_table(error: &TableError) -> Option<Verdict> {
    let code = match error {
        TableError::Occupied(Occupied::Released { .. }) => Code::AlreadyReleased,
        TableError::Occupied(Occupied::PlanInUse { .. }) => Code::PlanInUse,
        TableError::Fingerprint { .. } => Code::WrongPlan,
        _ => return None,
    };
    Some(Verdict { code, text: error.to_string() })
}

/// Returns the verdict of a counts error: `wrong-plan`, with the error message.
pub fn of_study(error: &StudyError) -> Option<Verdict> {
    matches!(error, StudyError::OtherPlan { .. }).then(|| Verdict { code: Code::WrongPlan, text: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_releases_plans_in_use_and_wrong_plans_have_a_verdict() {
        let code = |error: TableError| of_table(&error).map(|verdict| verdict.code.name());
        let (file, fingerprint) = (|| "r.csv".to_owned(), || "sha256:00".to_owned());
        let released = Occupied::Released { file: file(), fingerprint: fingerprint(), epsilon: Some("1".to_owned()) };
        assert_eq!(code(released.into()), Some("already-released"));
        assert_eq!(code(Occupied::PlanInUse { file: file(), fingerprint: fingerprint() }.into()), Some("plan-in-use"));
        let wrong = TableError::Fingerprint { file: file(), found: fingerprint(), expected: "sha256:01".to_owned() };
        assert_eq!(code(wrong), Some("wrong-plan"));
        assert_eq!(code(Occupied::Exists { file: file(), what: "it would be lost".to_owned() }.into()), None);
        let counts = StudyError::OtherPlan { found: fingerprint(), expected: "sha256:01".to_owned() };
        let verdict = of_study(&counts).unwrap();
        assert_eq!(verdict.code, Code::WrongPlan);
        assert!(verdict.text.starts_with("Wrong plan: the counts were made with sha256:00"), "{}", verdict.text);
        assert_eq!(of_study(&StudyError::Unbounded), None);
    }
}
