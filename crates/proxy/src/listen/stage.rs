//! The life of a server, as its connections see it: open, draining, cut.

use tokio::sync::watch;

/// How far the server is on its way to stop.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Stage {
    /// Takes connections.
    Open,
    /// Takes none; finishes what runs.
    Draining,
    /// Gives up what still runs.
    Cut,
}

/// Tells when the server gives up on what still runs.
///
/// It is in the extensions of each request for another protocol: a tunnel outlives its request, and
/// must end when the server does.
#[derive(Clone, Debug)]
pub struct Lifetime(watch::Receiver<Stage>);

impl Lifetime {
    pub(super) const fn new(stage: watch::Receiver<Stage>) -> Self {
        Self(stage)
    }

    /// Waits until the server stops taking connections.
    pub(super) async fn draining(&mut self) {
        self.reaches(Stage::Draining).await;
    }

    /// Waits until the server is cut. Cancel safe.
    pub async fn cut(&mut self) {
        self.reaches(Stage::Cut).await;
    }

    async fn reaches(&mut self, stage: Stage) {
        // A server that is gone (its future was dropped) has been cut.
        let _ = self.0.wait_for(|reached| *reached >= stage).await;
    }
}
