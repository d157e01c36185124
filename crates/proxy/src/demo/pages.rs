//! The pages of the demo site.

/// The front page, with links to the others.
pub(super) const HOME: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>larder</title>
<style>
  body { max-width: 38rem; margin: 4rem auto; padding: 0 1rem; font: 18px/1.6 Georgia, serif }
  body { color: #33261b; background: #fbf6ec }
  h1 { font-weight: normal } img { float: right; width: 9rem; margin: 0 0 1rem 1.5rem }
  a { color: #9a4a1c } code { font-size: .85em }
</style>
<img src="/picture.svg" alt="A shelf with three jars">
<h1>It is in the larder.</h1>
<p>This page comes from a small origin that runs inside larder, because nothing else was configured.
Reload it and look at the <code>Cache-Status</code> and <code>Age</code> fields of the answer.</p>
<ul>
  <li><a href="/">This page</a> keeps for a minute.</li>
  <li><a href="/picture.svg">The picture</a> keeps for an hour, and has an <code>ETag</code>.</li>
  <li><a href="/slow">A slow page</a> takes two seconds, once.</li>
  <li><a href="/api/time">The time</a> keeps for ten seconds, unless its tag is purged.</li>
  <li><a href="/private">A private page</a> is never kept.</li>
</ul>
<p>To put your own site here: <code>larder serve --origin http://localhost:3000</code></p>
</html>
"#;

/// Three jars on a shelf.
pub(super) const PICTURE: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 90" role="img" aria-label="A shelf with three jars">
  <rect x="4" y="74" width="112" height="7" rx="2" fill="#8a5a33"/>
  <g stroke="#33261b" stroke-width="1.5">
    <rect x="12" y="40" width="26" height="34" rx="5" fill="#d9822b"/>
    <rect x="15" y="33" width="20" height="8" rx="2" fill="#f3e3c3"/>
    <rect x="47" y="26" width="28" height="48" rx="6" fill="#8fae5d"/>
    <rect x="51" y="18" width="20" height="9" rx="2" fill="#f3e3c3"/>
    <rect x="84" y="46" width="24" height="28" rx="5" fill="#b5443a"/>
    <rect x="87" y="39" width="18" height="8" rx="2" fill="#f3e3c3"/>
  </g>
</svg>
"##;

/// The page that takes its time.
pub(super) fn slow(made_at: &str) -> String {
    format!(
        "<!doctype html>\n<title>slow</title>\n<p>This took two seconds to make, at {made_at}. \
         <a href=\"/\">Back</a>\n"
    )
}

/// The page that nobody keeps.
pub(super) fn private(made_at: &str) -> String {
    format!(
        "<!doctype html>\n<title>private</title>\n<p>Made for you alone, at {made_at}. \
         <a href=\"/\">Back</a>\n"
    )
}
