//! The body of an answer, wherever it comes from.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body as _, Frame, SizeHint};
use larder_store::BodyReader;

use crate::{BoxBody, BoxError};

use super::flight::{ReadGap, WindowReader};
use super::outcome::Outcome;

/// How often one answer may be continued from another source after its own failed.
pub(super) const RESUMES_MAX: u8 = 3;

/// A started attempt to continue a body.
pub(super) type Resuming = Pin<Box<dyn Future<Output = Result<Source, BoxError>> + Send>>;

/// What failed midway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// A fetch that was followed and went on too far.
    Flight,
    /// Anything else: the flash, or the origin's rest of a body.
    Other,
}

/// Finds another source for the rest of a body whose source failed midway: the flash lost a
/// fragment, or the fetch that was followed slid away.
pub trait Resume: Send + Sync {
    /// Bytes `from..until` (to the end when unknown) of the same representation, or an error when
    /// they cannot be had.
    fn resume(&self, failed: Failed, from: u64, until: Option<u64>) -> Resuming;
}

/// Where bytes come from.
pub enum Source {
    /// Nowhere.
    Empty,
    /// One piece in memory.
    Once(Bytes),
    /// The store.
    Store(BodyReader),
    /// A fetch that others follow too.
    Flight(WindowReader),
    /// The origin, for this answer alone.
    Origin(BoxBody),
    /// The next source is being sought.
    Resuming(Resuming),
}

/// The body of an answer. Dropping it unfinished tells its source that nobody reads on.
pub struct Body {
    source: Source,
    /// Offset, in the whole representation, of the next byte.
    position: u64,
    /// End of what is wanted; `None` when the length is unknown.
    until: Option<u64>,
    resume: Option<Arc<dyn Resume>>,
    resumes_left: u8,
    outcome: Outcome,
}

impl Body {
    /// An empty body.
    pub fn empty(outcome: Outcome) -> Self {
        Self::new(Source::Empty, 0, Some(0), outcome)
    }

    /// One piece.
    pub fn once(bytes: Bytes, outcome: Outcome) -> Self {
        let len = bytes.len() as u64;
        Self::new(Source::Once(bytes), 0, Some(len), outcome)
    }

    /// Bytes from `position` up to `until` (to the end when unknown) out of `source`.
    pub fn new(source: Source, position: u64, until: Option<u64>, outcome: Outcome) -> Self {
        Self {
            source,
            position,
            until,
            resume: None,
            resumes_left: RESUMES_MAX,
            outcome,
        }
    }

    /// Somebody else's body, as it is.
    pub fn relayed(body: BoxBody, outcome: Outcome) -> Self {
        Self::new(Source::Origin(body), 0, None, outcome)
    }

    /// With a way to go on when the source fails.
    #[must_use]
    pub fn or_resume(mut self, resume: Arc<dyn Resume>) -> Self {
        self.resume = Some(resume);
        self
    }

    /// What was decided about this answer.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn poll_source(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.source {
            Source::Empty => Poll::Ready(None),
            Source::Once(bytes) => {
                let bytes = std::mem::take(bytes);
                self.source = Source::Empty;
                Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
            }
            Source::Store(reader) => Pin::new(reader)
                .poll_next(cx)
                .map(|next| next.map(|piece| piece.map(Frame::data).map_err(BoxError::from))),
            Source::Flight(reader) => {
                let next = ready!(reader.poll_next(cx));
                if let Some(Err(ReadGap::Failed { .. })) = next {
                    // The fill has tried to go on, for all its readers at once.
                    self.resumes_left = 0;
                }
                Poll::Ready(next.map(|piece| piece.map(Frame::data).map_err(BoxError::from)))
            }
            Source::Origin(body) => Pin::new(body).poll_frame(cx),
            Source::Resuming(resuming) => match ready!(resuming.as_mut().poll(cx)) {
                Ok(source) => {
                    self.source = source;
                    self.poll_source(cx)
                }
                Err(error) => {
                    self.resumes_left = 0;
                    Poll::Ready(Some(Err(error)))
                }
            },
        }
    }

    /// Replaces a failed source; false if there is no way to go on.
    fn try_resume(&mut self) -> bool {
        let Some(resume) = &self.resume else {
            return false;
        };
        if self.resumes_left == 0 {
            return false;
        }
        self.resumes_left -= 1;
        let failed = match self.source {
            Source::Flight(_) => Failed::Flight,
            _ => Failed::Other,
        };
        self.source = Source::Resuming(resume.resume(failed, self.position, self.until));
        true
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        loop {
            let next = ready!(this.poll_source(cx));
            let early = this.until.is_some_and(|until| this.position < until);
            return Poll::Ready(match next {
                Some(Ok(frame)) => {
                    this.position += frame.data_ref().map_or(0, |data| data.len() as u64);
                    Some(Ok(frame))
                }
                Some(Err(_)) if this.try_resume() => continue,
                None if early && this.try_resume() => continue,
                None if early => Some(Err("the body ended early".into())),
                other => other,
            });
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Empty => true,
            Source::Once(bytes) => bytes.is_empty(),
            Source::Origin(body) => body.is_end_stream(),
            _ => self.until == Some(self.position),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.source, self.until) {
            (Source::Origin(body), None) => body.size_hint(),
            (_, Some(until)) => SizeHint::with_exact(until.saturating_sub(self.position)),
            (_, None) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("position", &self.position)
            .field("until", &self.until)
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::{BodyExt, StreamBody};

    use super::*;
    use crate::cache::flight::{End, Window};

    struct From(&'static str);

    impl Resume for From {
        fn resume(&self, _: Failed, from: u64, until: Option<u64>) -> Resuming {
            let until = until.map_or(self.0.len(), |until| until as usize);
            let rest = Bytes::from_static(self.0.as_bytes()).slice(from as usize..until);
            Box::pin(async move { Ok(Source::Once(rest)) })
        }
    }

    struct Never;

    impl Resume for Never {
        fn resume(&self, _: Failed, _: u64, _: Option<u64>) -> Resuming {
            Box::pin(async { Err("gone".into()) })
        }
    }

    async fn broken_source(
        until: Option<u64>,
        resume: Option<Arc<dyn Resume>>,
    ) -> Result<Bytes, BoxError> {
        let broken = stream::iter([
            Ok(Frame::data(Bytes::from_static(b"abc"))),
            Err(BoxError::from("broken")),
        ]);
        let source = Source::Origin(StreamBody::new(broken).boxed_unsync());
        let mut body = Body::new(source, 0, until, Outcome::default());
        body.resume = resume;
        Ok(body.collect().await?.to_bytes())
    }

    #[tokio::test]
    async fn a_broken_source_is_continued_where_it_broke() {
        for until in [Some(8), None] {
            let rest = broken_source(until, Some(Arc::new(From("abcdefgh"))));
            assert_eq!(rest.await.unwrap(), "abcdefgh", "{until:?}");
            assert!(broken_source(until, Some(Arc::new(Never))).await.is_err());
            assert!(broken_source(until, None).await.is_err());
        }
    }

    #[tokio::test]
    async fn a_failed_fetch_is_not_tried_again_by_each_of_its_readers() {
        let window = Window::new(64);
        let reader = window.reader(0, 8).unwrap();
        window.push(Bytes::from_static(b"abc")).await;
        window.end(End::Failed);
        let body = Body::new(Source::Flight(reader), 0, Some(8), Outcome::default());
        assert!(
            body.or_resume(Arc::new(From("abcdefgh")))
                .collect()
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn a_source_that_ends_early_is_an_error_not_a_short_answer() {
        let body = Body::new(
            Source::Once(Bytes::from_static(b"ab")),
            0,
            Some(3),
            Outcome::default(),
        );
        assert!(body.collect().await.is_err());
    }
}
