// A GraphQL server by graphql-yoga: notes with Relay pages, an interface, a union, a type within itself, a custom scalar,
// a deprecated field, and a field that fails beside data. Arguments: the folder of the packages; `closed` for a server
// that answers no introspection query. Prints its port.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const [, , folder, mode] = process.argv;
const from = createRequire(`${folder}/`);
const { GraphQLError, NoSchemaIntrospectionCustomRule } = from('graphql');
const { createSchema, createYoga } = from('graphql-yoga');

const typeDefs = `
  scalar Json
  interface Named { id: ID! name: String! }
  type Folder implements Named { id: ID! name: String! parent: Folder old: String @deprecated(reason: "Use name.") }
  type Note implements Named { id: ID! name: String! tags: [String!]! folder: Folder secret: String extra: Json }
  union Found = Note | Folder
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type NoteEdge { cursor: String! node: Note! }
  type NoteConnection { edges: [NoteEdge!]! nodes: [Note!]! totalCount: Int! pageInfo: PageInfo! }
  input NoteFilter { tag: String not: NoteFilter }
  input NewNote { name: String! tags: [String!] = [] extra: Json }
  type NotePayload { note: Note userErrors: [String!]! }
  type Query {
    "Notes in the order in which they were added."
    notes(first: Int, after: String, last: Int, before: String, filter: NoteFilter): NoteConnection!
    note(id: ID!): Note
    search(text: String!): [Found!]!
    user: String @deprecated(reason: "Gone.")
  }
  type Mutation { noteCreate(input: NewNote!): NotePayload! noteDelete(id: ID!): Boolean! }
`;
const home = { id: 'f1', name: 'Home', parent: { id: 'f0', name: 'Root' } };
const notes = ['Milk', 'Bread', 'Tea'].map((name, index) => ({ id: `n${index + 1}`, name, tags: ['shop'], folder: home }));
const resolvers = {
  Query: {
    notes: (_, { first, after, filter }) => {
      if (first == null) throw new GraphQLError('You must provide `first`.', { extensions: { code: 'MISSING_PAGINATION' } });
      const all = notes.filter(({ tags }) => !filter?.tag || tags.includes(filter.tag));
      const start = after ? all.findIndex(({ id }) => id === after) + 1 : 0;
      const page = all.slice(start, start + first);
      const pageInfo = { hasNextPage: start + first < all.length, endCursor: page.at(-1)?.id ?? null };
      return { nodes: page, edges: page.map((node) => ({ cursor: node.id, node })), totalCount: all.length, pageInfo };
    },
    note: (_, { id }) => {
      const found = notes.find((note) => note.id === id);
      if (!found) throw new GraphQLError(`No note ${id}.`, { extensions: { code: 'NOT_FOUND' } });
      return found;
    },
    search: (_, { text }) => [...notes.filter(({ name }) => name.includes(text)), home],
  },
  Mutation: {
    noteCreate: (_, { input }) => {
      const note = { id: `n${notes.length + 1}`, ...input, folder: home };
      notes.push(note);
      return { note, userErrors: [] };
    },
    noteDelete: (_, { id }) => notes.splice(notes.findIndex((note) => note.id === id), 1).length === 1,
  },
  Note: { secret: ({ id }) => { if (id === 'n2') throw new GraphQLError('not for you'); return null; } },
  Found: { __resolveType: ({ tags }) => (tags ? 'Note' : 'Folder') },
  Named: { __resolveType: ({ tags }) => (tags ? 'Note' : 'Folder') },
};
const closed = { onValidate: ({ addValidationRule }) => addValidationRule(NoSchemaIntrospectionCustomRule) };
const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }), logging: false, plugins: mode === 'closed' ? [closed] : [],
});
const server = createServer(yoga);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
