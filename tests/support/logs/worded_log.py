"""Statements in other wordings: pairs that say one thing, and pairs that do not, however alike they are."""

from __future__ import annotations

ONE = (
    ("Releases must be run from the release branch.", "Releases have to be run from the release branch."),
    ("Releases should be cut from main.", "Releases are required to be cut from main."),
    ("Tests need to pass before merging.", "Tests must pass before merging."),
    ("Every service has to expose a health endpoint.", "Every service should expose a health endpoint."),
    ("The build doesn't need Docker.", "The build does not need Docker."),
    ("It's cached for an hour.", "It is cached for one hour."),
    ("Deploys mustn't run on Friday.", "Deploys must not run on Friday."),
    ("You can't push to main.", "You cannot push to main."),
    ("The parser is able to read YAML.", "The parser can read YAML."),
    ("We support Python, Go and Rust.", "We support Rust, Python and Go."),
    ("The cluster runs Kafka, Redis, and Postgres.", "The cluster runs Postgres, Kafka, and Redis."),
    ("The preview runs on port 8090.", "Port 8090 is where the preview runs."),
    ("Use the shared linter config.", "Use a shared linter config."),
)
APART = (
    ("Deploys must run on Friday.", "Deploys must not run on Friday."),
    ("Tests have to pass before merging.", "Tests don't have to pass before merging."),
    ("The preview must run on port 8080.", "The preview has to run on port 8090."),
    ("Ada must approve releases.", "Bob has to approve releases."),
    ("You must deploy on Friday.", "You may deploy on Friday."),
    ("Only admins must rotate keys.", "Admins have to rotate keys."),
    ("The API will be removed.", "The API must be removed."),
    ("Lint, test and deploy.", "Deploy, test and lint."),
    ("We support Python, Go and Rust.", "We support Python, Go and Zig."),
    ("All tests must pass.", "Some tests must pass."),
)
WORDED = (*ONE, *APART)
