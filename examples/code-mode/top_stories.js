// The top stories of Hacker News, the most discussed first.
const { count = 10 } = args;

const ids = await hackernews.listTopStories({});
let read = 0;
const items = await Promise.all(
  ids.slice(0, count).map(async (id) => {
    const item = await hackernews.getItem({ id: String(id) });
    progress(++read, count, `read story ${id}`);
    return item;
  }),
);
const stories = items.filter((item) => item !== null);
log(`${stories.length} of ${ids.length} stories`);

export default stories
  .map(({ id, title, descendants = 0 }) => ({ id, title, comments: descendants }))
  .sort((one, other) => other.comments - one.comments);
