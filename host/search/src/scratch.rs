//! Memory that a search adds up scores in; kept between searches.

/// Where something other than a verb was found: how surely a tool is about the query's subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    #[default]
    Nowhere,
    Keywords,
    Name,
}

/// What is known of one tool while a query runs.
#[derive(Clone, Copy, Default)]
pub(super) struct ToolScore {
    pub(super) total: f32,
    pub(super) covered: f32,
    pub(super) concept: f32,
    pub(super) subject: Subject,
    pub(super) found_words: u8,
    pub(super) variant: u8,
    pub(super) parts: u8,
}

/// What one term adds to one tool. Apart from [`ToolScore`], so that the innermost loop stays in the
/// nearest cache.
#[derive(Clone, Copy, Default)]
pub(super) struct TermScore {
    pub(super) weight: f32,
    pub(super) parts: u8,
}

/// One of each per tool, all empty between queries.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) slots: Vec<ToolScore>,
    pub(super) sums: Vec<TermScore>,
    /// A bit per tool that has at least one of the words.
    pub(super) touched: Vec<u64>,
}

impl Scratch {
    pub(super) fn fit(&mut self, tools: usize) {
        self.slots.resize(tools, ToolScore::default());
        self.sums.resize(tools, TermScore::default());
        self.touched.resize(tools.div_ceil(64), 0);
    }

    /// Empties what was touched, in the catalog's order.
    pub(super) fn drain(&mut self, mut each: impl FnMut(u32, ToolScore)) {
        for (word, bits) in (0_u32..).zip(&mut self.touched) {
            let mut bits = std::mem::take(bits);
            while bits != 0 {
                let tool = word * 64 + bits.trailing_zeros();
                each(tool, std::mem::take(&mut self.slots[tool as usize]));
                bits &= bits - 1;
            }
        }
    }
}
