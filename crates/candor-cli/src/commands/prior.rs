//! Options for the prior of an attribute.

use candor::prior::{Stated, column, counted, shares};
use candor_base::schema::Attribute;
use candor_design::pareto::loss::Loss;
use candor_design::pareto::prior::Prior;
use candor_tables::TableError;
use candor_tables::infer::Bins;
use candor_tables::input::{Input, Location, cells};
use clap::Args;

use crate::failure::Failure;
use crate::flags::with_flags;

/// Reads the loss of a wrong guess: `ordinal`, or a matrix in a file.
pub fn read_loss(given: &str) -> Result<Loss, Failure> {
    match given {
        Loss::ORDINAL => Ok(Loss::Named(given.to_owned())),
        path if std::path::Path::new(path).exists() => Ok(Loss::Matrix(cells(std::path::Path::new(path))?)),
        path => Err(Failure::about("--loss", format!("there is no file {path}; expected \"ordinal\" or a CSV file"))),
    }
}

#[derive(Args)]
pub struct PriorArgs {
    /// Share of each category, in order
    #[arg(long, value_delimiter = ',', value_name = "P,..", group = "known", allow_negative_numbers = true)]
    prior: Option<Vec<f64>>,
    /// Data file (CSV or Parquet) in which shares are counted
    #[arg(long, value_name = "TABLE", group = "known")]
    from: Option<String>,
    /// Column to count in that file
    #[arg(long, value_name = "NAME", requires = "from")]
    attribute: Option<String>,
    /// Bins of a numeric column: quantile:5, width:10 or edges:18,65
    #[arg(long, value_name = "BINS", requires = "attribute")]
    bins: Option<String>,
    /// Standard normal distribution in N bins of equal width on [-3, 3]
    #[arg(long, value_name = "N", group = "known")]
    normal_prior: Option<usize>,
    /// Gamma distribution in N bins of equal width, from 0 to its mean plus three standard deviations
    #[arg(long, value_name = "N", group = "known")]
    gamma_prior: Option<usize>,
    /// Shape of the gamma distribution
    #[arg(long, default_value_t = 1.0, value_name = "A", allow_negative_numbers = true, requires = "gamma_prior")]
    shape: f64,
    /// Scale of the gamma distribution; does not change the shares
    #[arg(long, default_value_t = 2.0, value_name = "B", allow_negative_numbers = true, requires = "gamma_prior")]
    scale: f64,
    /// Equal shares of N categories
    #[arg(long, value_name = "N", group = "known")]
    uniform_prior: Option<usize>,
}

impl PriorArgs {
    /// Returns the prior for a plan, with a note. Shares counted in a data file are rounded unless they must be
    /// `exact`; given ones are kept.
    pub fn for_plan(&self, known: Option<&Attribute>, exact: bool) -> Result<(Prior, Option<String>), Failure> {
        if exact && self.from.is_none() {
            return Err(Failure::Usage("--exact-prior requires --from FILE".to_owned()));
        }
        let prior = self.read(known)?;
        let stated = if exact { Stated::Exactly } else { Stated::Rounded };
        Ok(match self.from {
            None => (prior, None),
            Some(_) => (stated.prior(&prior), Some(with_flags(stated.caution()))),
        })
    }

    /// Returns the given option, if any.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--prior", self.prior.is_some()),
            ("--from", self.from.is_some()),
            ("--normal-prior", self.normal_prior.is_some()),
            ("--gamma-prior", self.gamma_prior.is_some()),
            ("--uniform-prior", self.uniform_prior.is_some()),
        ];
        flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// Reads the prior; `known` is its attribute if there is a schema.
    pub fn read(&self, known: Option<&Attribute>) -> Result<Prior, Failure> {
        let read = if let Some(shares) = &self.prior {
            Prior::new(shares)
        } else if let Some(n) = self.normal_prior {
            Prior::normal(n)
        } else if let Some(n) = self.gamma_prior {
            Prior::gamma(n, self.shape, self.scale)
        } else if let Some(n) = self.uniform_prior {
            Prior::uniform(n)
        } else if let Some(table) = &self.from {
            return self.count(table, known);
        } else {
            return Err(Failure::Usage(
                "a prior is required: --prior 0.1,0.2,.., --from FILE --attribute NAME, --normal-prior N, \
                 --gamma-prior N or --uniform-prior N"
                    .to_owned(),
            ));
        };
        read.map_err(|error| Failure::about(self.given().unwrap_or("--prior"), with_flags(&error.to_string())))
    }

    /// Counts the categories of a column: those of the schema, or those that occur.
    fn count(&self, table: &str, known: Option<&Attribute>) -> Result<Prior, Failure> {
        let location = Location::new(table);
        let attribute = match (known, &self.attribute) {
            (Some(attribute), name) => {
                if let Some(name) = name.as_ref().filter(|name| *name != attribute.name()) {
                    let problem = format!("the schema's attribute is \"{}\", not \"{name}\"", attribute.name());
                    return Err(Failure::about("--attribute", problem));
                }
                attribute.clone()
            }
            (None, Some(name)) => {
                let bins = self.bins.as_deref().map(Bins::parse).transpose();
                let bins = bins.map_err(|error| Failure::about("--bins", error))?;
                column(Input::open(&location, None)?, name, bins)?
            }
            (None, None) => return Err(Failure::Usage("--from requires --attribute, the column to count".to_owned())),
        };
        let counts = counted(Input::open(&location, None)?, &attribute).map_err(|error| match error {
            TableError::InvalidValue(value) => Failure::about(table, value),
            error => error.into(),
        })?;
        shares(&counts).map_err(|error| Failure::about(table, error))
    }
}
