//! Epsilons of published deployments, with sources.

use serde::Serialize;

/// Epsilon of a published deployment. This is a fact, not a recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Deployment {
    /// What was protected.
    pub what: &'static str,
    /// The epsilon.
    pub epsilon: f64,
    /// `local` or `central`.
    ///
    /// In the local model, answers are randomized before anybody sees them. In the central model, a curator who
    /// knows them publishes noisy tables.
    pub model: &'static str,
    /// Unit of data that the epsilon covers.
    pub covers: &'static str,
    /// Source of the number.
    pub source: &'static str,
}

/// Published deployments, with sources.
pub const DEPLOYMENTS: [Deployment; 5] = [
    Deployment {
        what: "Survey in Nigeria, with a die",
        epsilon: 1.61,
        model: "local",
        covers: "one answer; 5 of 6 replies are true",
        source: "Blair, Imai and Zhou 2015, Design and analysis of the randomized response technique, JASA 110",
    },
    Deployment {
        what: "Apple, types of health data in use",
        epsilon: 2.0,
        model: "local",
        covers: "a person and day",
        source: "Apple, Differential privacy overview",
    },
    Deployment {
        what: "Apple, emoji",
        epsilon: 4.0,
        model: "local",
        covers: "a person and day",
        source: "Apple, Differential privacy overview",
    },
    Deployment {
        what: "Apple, new words typed",
        epsilon: 16.0,
        model: "local",
        covers: "a person and day, in two parts of 8",
        source: "Apple, Differential privacy overview",
    },
    Deployment {
        what: "US census 2020, tables of persons",
        epsilon: 17.14,
        model: "central",
        covers: "a person, all these tables; delta 1e-10",
        source: "US Census Bureau, Key parameters to protect privacy in 2020 census results, June 9, 2021",
    },
];
