//! Invitations, tokens and quotas.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn invitations_are_used_once() {
    for database in databases().await {
        let place = Place::new(database, |wording| wording.invitations = true);
        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        let codes = invite(&store, 3).await.unwrap();
        let running = place.start().await.unwrap();
        let good = lines(1).remove(0);
        let kind = |(status, body): (u16, String)| (status, body.contains("-invitation"));
        assert_eq!(kind(running.send(&id(0), None, &good).await), (403, true));
        assert_eq!(kind(running.send(&id(0), Some("guessed"), &good).await), (403, true));
        assert_eq!(running.send(&id(0), Some(&codes[0]), &good).await.0, 201);
        assert_eq!(running.send(&id(0), Some(&codes[0]), &good).await.0, 200, "it again");
        assert_eq!(kind(running.send(&id(1), Some(&codes[0]), &good).await), (403, true), "used");
        assert_eq!(running.send(&id(1), Some(&codes[1]), &good).await.0, 201);
        let waits = store.waiting().await.unwrap();
        assert_eq!((waits.responses.len(), waits.invitations.len()), (2, 2));
        assert_eq!((store.invitations().await.unwrap(), store.responses().await.unwrap()), ((3, 0), 0));
        store.close().await.unwrap();
        assert_eq!((store.invitations().await.unwrap(), store.responses().await.unwrap()), ((3, 2), 2));
        running.stop().await;
        store.end().await;
    }
}

/// A token for an invitation, as a browser gets it: the token and its value.
async fn token(running: &Running, code: &str, token: [u8; 32]) -> Result<(String, String), (u16, String)> {
    let key: serde_json::Value = serde_json::from_str(&running.get("/survey.json", "").await.1).unwrap();
    let key = unhex(key["tokens"]["key"].as_str().unwrap()).unwrap();
    let blind = VoprfClient::<Ristretto255>::blind(&token, &mut rand_core_06::OsRng).unwrap();
    let body = format!("{{\"invitation\":\"{code}\",\"blinded\":\"{}\"}}", hex(&blind.message.serialize()));
    let (status, reply) = running.post_to("/tokens", &body).await;
    if status != 200 {
        return Err(kind((status, reply)));
    }
    // A lost reply: the same is answered again.
    assert_eq!(running.post_to("/tokens", &body).await.0, 200);
    let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
    let field = |name: &str| unhex(reply[name].as_str().unwrap()).unwrap();
    let message = EvaluationElement::deserialize(&field("evaluated")).unwrap();
    let proof = Proof::deserialize(&field("proof")).unwrap();
    let key = Ristretto255::deserialize_elem(&key).unwrap();
    Ok((hex(&token), hex(&blind.state.finalize(&token, &message, &proof, key).unwrap())))
}

fn with_token((token, value): &(String, String), response: &str) -> String {
    format!("{{\"id\":\"{token}\",\"token\":\"{value}\",\"response\":{response}}}")
}

/// Two periods: tokens first, answers after. Nothing that is stored leads from an invitation to a response.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_given_once_and_answer_once() {
    for database in databases().await {
        let place = Place::new(database, |wording| {
            wording.invitations = true;
            wording.tokens_until = Some("2999-12-31".to_owned());
        });
        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        let codes = invite(&store, 3).await.unwrap();
        let good = lines(1).remove(0);
        let running = place.start().await.unwrap();
        let first = token(&running, &codes[0], [1; 32]).await.unwrap();
        let second = token(&running, &codes[1], [2; 32]).await.unwrap();
        assert_eq!(token(&running, &codes[0], [3; 32]).await, Err((403, "used-invitation".to_owned())));
        assert_eq!(token(&running, "guessed", [3; 32]).await, Err((403, "unknown-invitation".to_owned())));
        assert_eq!(kind(running.post(&with_token(&first, &good)).await), (403, "too-early".to_owned()));
        let bad = format!("{{\"invitation\":\"{}\",\"blinded\":\"00\"}}", codes[2]);
        assert_eq!(kind(running.post_to("/tokens", &bad).await), (422, "blinded".to_owned()));
        assert_eq!(kind(running.post_to("/tokens", "{}").await), (400, "body".to_owned()));
        running.stop().await;

        // The second period.
        let toml = place.survey().join("survey.toml");
        let text = std::fs::read_to_string(&toml).unwrap();
        std::fs::write(&toml, text.replace("2999-12-31", "2020-01-01")).unwrap();
        let running = place.start().await.unwrap();
        assert_eq!(token(&running, &codes[2], [3; 32]).await, Err((403, "too-late".to_owned())));
        assert_eq!(running.post(&with_token(&first, &good)).await.0, 201);
        assert_eq!(running.post(&with_token(&first, &good)).await.0, 200, "the same token again adds nothing");
        let forged = (hex(&[3; 32]), first.1.clone());
        assert_eq!(kind(running.post(&with_token(&forged, &good)).await), (403, "invalid-token".to_owned()));
        let without = format!("{{\"id\":\"{}\",\"response\":{good}}}", second.0);
        assert_eq!(kind(running.post(&without).await), (403, "no-token".to_owned()));
        assert_eq!(running.post(&with_token(&second, &good)).await.0, 201);
        running.stop().await;
        store.close().await.unwrap();
        assert_eq!((store.responses().await.unwrap(), store.invitations().await.unwrap()), (2, (3, 2)));
        store.end().await;

        // Another key would make all tokens worthless.
        std::fs::write(place.survey().join("token-key"), "x".repeat(40)).unwrap();
        let said = place.start().await.err().map(|error| error.to_string()).unwrap();
        assert!(said.contains("restore the old file"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn quotas_of_groups_are_kept() {
    let quotas = [("region".to_owned(), [("north".to_owned(), 3)].into())];
    let place = Place::new(None, |wording| wording.quotas = quotas.clone().into());
    let running = place.start().await.unwrap();
    let given = lines(60);
    let (north, south): (Vec<&String>, Vec<&String>) = given.iter().partition(|line| line.contains("north"));
    for (number, line) in north.iter().take(3).chain(south.iter().take(5)).enumerate() {
        assert_eq!(running.send(&id(number), None, line).await.0, 201);
    }
    assert_eq!(kind(running.send(&id(50), None, north[3]).await), (403, "group-full".to_owned()));
    assert_eq!(running.send(&id(0), None, north[0]).await.0, 200, "a retry is answered all the same");
    running.stop().await;
    let running = place.start().await.unwrap();
    assert_eq!(kind(running.send(&id(50), None, north[3]).await), (403, "group-full".to_owned()));
    assert_eq!(running.send(&id(51), None, south[5]).await.0, 201);
    running.stop().await;
}
