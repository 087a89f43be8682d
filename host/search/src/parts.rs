//! The searched parts of a tool, and how much a match in each counts.

/// What is searched, in the order in which a match is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Name,
    Service,
    Keywords,
    /// What people say when they want the tool.
    Requests,
    Description,
    Parameters,
}

pub(crate) const PARTS: [Part; 6] = [
    Part::Name,
    Part::Service,
    Part::Keywords,
    Part::Requests,
    Part::Description,
    Part::Parameters,
];

impl Part {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Service => "service",
            Self::Keywords => "keywords",
            Self::Requests => "requests",
            Self::Description => "description",
            Self::Parameters => "parameters",
        }
    }

    /// How much a match here counts beside one elsewhere.
    pub(crate) fn weight(self) -> f32 {
        match self {
            Self::Name => 5.0,
            Self::Service => 4.0,
            Self::Keywords => 2.5,
            Self::Requests => 1.5,
            Self::Description => 1.0,
            Self::Parameters => 0.5,
        }
    }

    /// How much a long text dampens a match in it (BM25's `b`).
    pub(crate) fn length_damping(self) -> f32 {
        match self {
            Self::Name => 0.6,
            Self::Service => 0.0,
            Self::Keywords => 0.3,
            Self::Requests => 0.3,
            Self::Description => 0.5,
            Self::Parameters => 0.7,
        }
    }
}
