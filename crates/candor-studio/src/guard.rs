//! Access control: only the page that this program opened may call.
//!
//! The program listens on this machine only, but every web page in the browser can send requests there. A request must
//! name this very address as its host (so DNS rebinding fails) and must not come from another origin. Everything but
//! the page's own files requires the token, which is only in the address that the program prints.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::secret::same_secret;

/// Settings that requests are checked against.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The port that the program listens on.
    pub port: u16,
    /// The token.
    pub token: Arc<str>,
}

/// Security headers of the page's responses: no foreign code, no framing, no requests to other places.
const CONTENT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src \
    'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// Security headers of a file shown inside the page: its own styles and scripts, without access to anything else.
const FILE_CONTENT: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src \
    data:; form-action 'none'; \
    base-uri 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-downloads allow-modals";

/// Path of files that are shown by ticket.
pub const FILES: &str = "/files/";

impl Guard {
    /// Checks the host and the origin of a request.
    ///
    /// A link may lead to the page itself, `at_page`, which holds nothing of anybody.
    ///
    /// # Errors
    /// Returns an error if it was sent to another name, or by another page.
    pub fn check_origin(&self, headers: &HeaderMap, at_page: bool) -> Result<(), Problem> {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let mut all_hosts = headers.get_all(header::HOST).iter();
        let host = all_hosts.next().and_then(|host| host.to_str().ok());
        let host = host.filter(|host| hosts.iter().any(|own| own == host) && all_hosts.next().is_none());
        let Some(host) = host else {
            return Err(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "host",
                format!("This is candor studio; it answers at 127.0.0.1:{} only.", self.port),
            ));
        };
        let foreign = |text: String| Err(Problem::new(StatusCode::FORBIDDEN, "origin", text));
        if text(header::ORIGIN).is_some_and(|origin| origin != format!("http://{host}")) {
            return foreign("Another page must not use candor studio.".to_owned());
        }
        let site = text(HeaderName::from_static("sec-fetch-site"));
        if at_page {
            return Ok(());
        }
        if site.is_some_and(|site| site != "same-origin" && site != "none") {
            return foreign("Another page must not use candor studio. Open the address that it printed.".to_owned());
        }
        Ok(())
    }

    /// Checks the token.
    ///
    /// # Errors
    /// Returns an error if the token is missing or wrong.
    pub fn check_token(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|given| given.strip_prefix("Bearer "));
        match given.is_some_and(|given| same_secret(given, &self.token)) {
            true => Ok(()),
            false => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "token",
                "This page belongs to a candor studio that was ended. Open the address that the running one printed.",
            )),
        }
    }
}

/// Checks every request, and adds the security headers to every response.
pub async fn guarded(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let (of_file, of_api) = (path.starts_with(FILES), path.starts_with("/api/"));
    let is_document = request.headers().get("sec-fetch-dest").is_some_and(|to| to == "document");
    let at_page = path == "/" && request.method() == Method::GET && is_document;
    let checked = guard.check_origin(request.headers(), at_page);
    let checked = checked.and_then(|()| if of_api { guard.check_token(request.headers()) } else { Ok(()) });
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let content = if of_file { FILE_CONTENT } else { CONTENT };
    let always = [
        (header::CONTENT_SECURITY_POLICY, content),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, if of_file { "SAMEORIGIN" } else { "DENY" }),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in always {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
