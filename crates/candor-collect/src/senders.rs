//! Limits of requests per second, in total and per sender, so that no sender exhausts the service.
//!
//! Addresses are kept in memory for the current second only.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The network that identifies a sender: an IPv4 address, or the first 64 bits of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sender(u64);

impl From<IpAddr> for Sender {
    fn from(address: IpAddr) -> Sender {
        match address.to_canonical() {
            IpAddr::V4(address) => Sender(u64::from(address.to_bits())),
            IpAddr::V6(address) => Sender((address.to_bits() >> 64) as u64),
        }
    }
}

/// The requests of the current second.
#[derive(Debug)]
pub struct Senders {
    most: u32,
    begun: Instant,
    all: u32,
    each: HashMap<Sender, u32>,
}

impl Senders {
    /// Creates a limit of requests per second.
    pub fn new(most: u32) -> Senders {
        Senders { most, begun: Instant::now(), all: 0, each: HashMap::new() }
    }

    /// Returns whether a request is admitted at this time. A known sender may use a tenth of the limit; rejected
    /// requests count for nothing.
    pub fn admit(&mut self, sender: Option<Sender>, now: Instant) -> bool {
        if now.duration_since(self.begun) >= Duration::from_secs(1) {
            *self = Senders { begun: now, ..Senders::new(self.most) };
        }
        let share = (self.most / 10).max(1);
        let own = sender.map(|sender| self.each.entry(sender).or_default());
        let admitted = self.all < self.most && own.as_ref().is_none_or(|own| **own < share);
        if admitted {
            self.all += 1;
            own.into_iter().for_each(|own| *own += 1);
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(text: &str) -> Sender {
        Sender::from(text.parse::<IpAddr>().unwrap())
    }

    #[test]
    fn one_sender_does_not_lock_out_the_others() {
        let now = Instant::now();
        let mut senders = Senders::new(100);
        let flood = (0..10_000).filter(|_| senders.admit(Some(sender("192.0.2.1")), now)).count();
        assert_eq!(flood, 10);
        for other in 2..=10 {
            assert!(senders.admit(Some(sender(&format!("192.0.2.{other}"))), now));
        }
        let more =
            (0..1_000).filter(|n| senders.admit(Some(sender(&format!("192.1.{}.{}", n / 250, n % 250))), now)).count();
        assert_eq!(more, 100 - 10 - 9, "all together no more than are let in");
        assert!(senders.admit(Some(sender("192.0.2.1")), now + Duration::from_secs(2)), "a later second");
    }

    #[test]
    fn a_network_is_one_sender() {
        assert_eq!(sender("2001:db8::1"), sender("2001:db8::ffff"));
        assert_ne!(sender("2001:db8::1"), sender("2001:db8:0:1::1"));
        assert_eq!(sender("::ffff:192.0.2.1"), sender("192.0.2.1"));
        let mut senders = Senders::new(5);
        assert!(senders.admit(Some(sender("192.0.2.1")), Instant::now()), "at least one each");
        let unknown = (0..10).filter(|_| senders.admit(None, Instant::now())).count();
        assert_eq!(unknown, 4, "who is not known is limited together");
    }
}
