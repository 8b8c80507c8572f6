//! A survey on the local machine, answered by simulated respondents over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use candor_base::plan::Plan;
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_design::{Request, design};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::collector::{CollectError, Serving, collect, id_key, open_store};
use crate::ids::IdKey;
use crate::random::secret;
use crate::simulate::{body_of, post, responses};
use crate::survey::Survey;

/// Number of respondents who answer at the same time.
const AT_ONCE: usize = 16;

const SCHEMA: &str = include_str!("../assets/demo-schema.toml");
const WORDING: &str = include_str!("../assets/demo-survey.toml");

/// Creates a survey in a temporary folder, serves it, and lets simulated respondents answer.
///
/// # Errors
/// Returns an error if the survey cannot be created or served.
pub async fn run(address: SocketAddr, respondents: usize, once: bool, say: impl Fn(&str)) -> Result<(), CollectError> {
    let folder = std::env::temp_dir().join(format!("candor-collect-demo-{}", &secret()[..8]));
    make(&folder)?;
    let token = secret();
    let (ready, bound) = oneshot::channel();
    let (done, stop) = oneshot::channel::<()>();
    let serving =
        Serving { address, database: None, behind_proxy: false, token: Some(token.clone()), reload: Arc::default() };
    let place = folder.clone();
    let stop = async move {
        let _ = stop.await;
    };
    let server =
        tokio::spawn(
            async move { collect(&place, serving, |bound, _| ready.send(bound).unwrap_or_default(), stop).await },
        );
    let Ok(bound) = bound.await else { return joined(server).await };
    say(&format!(
        "The survey:  http://{bound}/\nThe results: http://{bound}/results#{token}\nThe folder:  {}\n",
        folder.display()
    ));
    let survey = Survey::read(&folder)?;
    let accepted = answer(&survey.plan, &Arc::new(id_key(&folder)?), bound, respondents).await?;
    say(&format!("{accepted} simulated respondents have answered over HTTP.\n"));
    if !once {
        say("Answer yourself, and look at the results; Ctrl-C ends the demo.\n");
        let _ = tokio::signal::ctrl_c().await;
    }
    drop(done);
    joined(server).await?;
    let store = open_store(&survey, None).await?;
    store.close().await?;
    store.end().await;
    say(&format!(
        "Everything is in {}; export it with: candor-collect export {0} -o responses.csv\n",
        folder.display()
    ));
    Ok(())
}

async fn joined(server: tokio::task::JoinHandle<Result<(), CollectError>>) -> Result<(), CollectError> {
    server.await.map_err(|error| CollectError::Other(error.to_string()))?
}

/// Creates a folder with a plan and its texts.
fn make(folder: &PathBuf) -> Result<(), CollectError> {
    let other = |error: &dyn std::fmt::Display| CollectError::Other(error.to_string());
    let schema = Schema::from_toml(SCHEMA).map_err(|error| other(&error))?;
    let request: Request =
        serde_json::from_str(r#"{"method": "independent", "epsilon": 3}"#).map_err(|error| other(&error))?;
    let plan = design(&schema, &request).map_err(|error| other(&error))?.plan;
    std::fs::create_dir_all(folder).map_err(|error| other(&error))?;
    std::fs::write(folder.join("plan.json"), plan.to_json()).map_err(|error| other(&error))?;
    std::fs::write(folder.join("survey.toml"), WORDING).map_err(|error| other(&error))
}

/// Lets simulated respondents answer, and returns the number of accepted responses.
///
/// # Errors
/// Returns an error if the server does not answer.
pub async fn answer(
    plan: &Plan,
    ids: &Arc<IdKey>,
    server: SocketAddr,
    respondents: usize,
) -> Result<usize, CollectError> {
    let plan = Arc::new(plan.clone());
    let share = |place: usize| respondents / AT_ONCE + usize::from(place < respondents % AT_ONCE);
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|place| tokio::spawn(answer_some(Arc::clone(&plan), Arc::clone(ids), server, share(place))))
        .collect();
    let mut accepted = 0;
    for task in tasks {
        accepted += task.await.map_err(|error| CollectError::Other(error.to_string()))??;
    }
    Ok(accepted)
}

async fn answer_some(
    plan: Arc<Plan>,
    ids: Arc<IdKey>,
    server: SocketAddr,
    count: usize,
) -> Result<usize, CollectError> {
    let failed = |error: std::io::Error| CollectError::Other(format!("the server at {server}: {error}"));
    let mut stream = TcpStream::connect(server).await.map_err(failed)?;
    let lines = {
        let source = Source::from_os().map_err(|error| CollectError::Other(error.to_string()))?;
        responses(&plan, &Client::new(&plan), &mut source.stream(0), count)
    };
    let mut accepted = 0;
    for line in lines {
        let body = body_of(&ids.draw(), None, &line);
        loop {
            let (status, _) = post(&mut stream, &body).await.map_err(failed)?;
            accepted += usize::from(status == 201);
            match status {
                // All requests come from one address, whose rate is limited.
                429 => tokio::time::sleep(Duration::from_millis(200)).await,
                _ => break,
            }
        }
    }
    Ok(accepted)
}
