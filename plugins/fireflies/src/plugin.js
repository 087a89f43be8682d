// Fireflies: recorded meetings, over its GraphQL API. dialogue.js makes turns of sentences.

import { definePlugin, page, s, tool, ToolError } from 'toolgate-plugin';
import { clock, passages, seconds, shares, turns } from './dialogue.js';
import { filled, graphql } from './graphql.js';

const HEAD = 'id title date duration organizer_email participants transcript_url';
const SENTENCES = 'sentences { speaker_name text start_time end_time }';
/** Turns of one page of a transcript: about what a model reads in one go. */
const TURNS = 80;

const meeting = s.string('Id of the meeting, as list_meetings answers it.', { minLength: 1, maxLength: 100 });
const day = { format: 'date-time' };

/** A meeting as an agent needs it. Fireflies tells times in milliseconds and durations in minutes. */
const head = ({ date, duration, organizer_email: organizer, transcript_url: url, summary, ...rest }) => filled({
  ...rest,
  date: date ? new Date(Number(date)).toISOString() : undefined,
  minutes: duration ? Math.round(duration) : undefined,
  organizer,
  url,
  summary: summary?.short_summary ?? summary?.overview,
});

const listMeetings = tool({
  name: 'list_meetings',
  description: 'Lists recorded meetings, newest first, with a short summary of each; filtered by words, people or dates.',
  effect: 'read',
  queries: ['GRAPHQL https://api.fireflies.ai/graphql'],
  paginated: true,
  input: {
    keyword: s.string('Words said in the meeting or in its title.', { maxLength: 255 }).optional(),
    participants: s.array(s.string(undefined, { format: 'email' }), 'Addresses; meetings with any of them.', { maxItems: 20 }).optional(),
    organizers: s.array(s.string(undefined, { format: 'email' }), 'Addresses of those who invited.', { maxItems: 20 }).optional(),
    since: s.string('Held on or after this time.', day).optional(),
    until: s.string('Held before this time.', day).optional(),
    mine: s.boolean("Only meetings that the key's owner organised.", { default: false }),
    limit: s.integer('Meetings on a page.', { min: 1, max: 50, default: 20 }),
  },
  keywords: ['calls', 'recordings', 'transcripts', 'notes'],
  examples: [{ keyword: 'pricing', since: '2026-01-01T00:00:00Z' }],
  async run(args, cx) {
    const skip = cx.pageNumber(0);
    const { transcripts } = await graphql(
      cx,
      `query($keyword: String, $participants: [String!], $organizers: [String!], $fromDate: DateTime, $toDate: DateTime, $mine: Boolean, $limit: Int, $skip: Int) {
        transcripts(keyword: $keyword, participants: $participants, organizers: $organizers, fromDate: $fromDate, toDate: $toDate, mine: $mine, limit: $limit, skip: $skip) { ${HEAD} summary { short_summary overview } } }`,
      {
        ...filled({ keyword: args.keyword, participants: args.participants, organizers: args.organizers, fromDate: args.since, toDate: args.until }),
        ...(args.mine ? { mine: true } : {}),
        limit: args.limit,
        skip,
      },
    );
    const found = transcripts ?? [];
    return page(found.map(head), found.length === args.limit ? String(skip + found.length) : undefined);
  },
});

const getMeeting = tool({
  name: 'get_meeting',
  description: 'Reads what came of a meeting: summary, action items by person, keywords, who took part and who spoke how long.',
  effect: 'read',
  queries: ['GRAPHQL https://api.fireflies.ai/graphql'],
  input: { meeting },
  keywords: ['minutes', 'summary', 'action items', 'follow up', 'talk time'],
  examples: [{ meeting: '01JABCDEF0' }],
  async run(args, cx) {
    const found = await read(cx, args.meeting, `${HEAD} summary { overview action_items keywords } meeting_attendees { displayName email } ${SENTENCES}`);
    const { sentences, summary, meeting_attendees: attendees, participants: _participants, ...rest } = found;
    return filled({
      ...head(rest),
      summary: summary?.overview,
      action_items: actionItems(summary?.action_items),
      keywords: summary?.keywords,
      attendees: (attendees ?? []).map(({ displayName, email }) => filled({ name: displayName, email })),
      speakers: shares(sentences ?? []),
    });
  },
});

/** Fireflies writes action items as text: a person's name in asterisks, then a line for each item. */
function actionItems(text) {
  const items = [];
  let person;
  for (const line of (text ?? '').split('\n').map((one) => one.trim()).filter(Boolean)) {
    const named = /^\*\*(.+?)\*\*:?$/.exec(line);
    if (named) person = named[1];
    else items.push(filled({ person, item: line.replace(/^[-*•]\s*/, '') }));
  }
  return items;
}

const getTranscript = tool({
  name: 'get_transcript',
  description: 'Reads what was said, as turns with speaker and time, from one time to another or by one person.',
  effect: 'read',
  queries: ['GRAPHQL https://api.fireflies.ai/graphql'],
  paginated: true,
  input: {
    meeting,
    from: s.string('Time in the meeting to begin at, such as 12:30.', { pattern: '^([0-9]{1,2}:)?[0-9]{1,3}:[0-9]{2}$' }).optional(),
    to: s.string('Time in the meeting to end at.', { pattern: '^([0-9]{1,2}:)?[0-9]{1,3}:[0-9]{2}$' }).optional(),
    speaker: s.string('Only what this person said; a part of the name is enough.').optional(),
  },
  keywords: ['conversation', 'who said what', 'quotes'],
  examples: [{ meeting: '01JABCDEF0', from: '12:30', to: '15:00' }],
  async run(args, cx) {
    const start = cx.pageNumber(0);
    const { title, sentences } = await read(cx, args.meeting, `title ${SENTENCES}`);
    const [from, to] = [args.from ? seconds(args.from) : 0, args.to ? seconds(args.to) : Infinity];
    const speaker = args.speaker?.toLowerCase();
    const wanted = (sentences ?? []).filter((one) => one.start_time >= from && one.start_time < to
      && (!speaker || one.speaker_name?.toLowerCase().includes(speaker)));
    const all = turns(wanted);
    const next = start + TURNS < all.length ? String(start + TURNS) : undefined;
    return page({ title, turns: all.slice(start, start + TURNS) }, next);
  },
});

const searchTranscript = tool({
  name: 'search_transcript',
  description: 'Finds where in a meeting something was said, with the turns around it.',
  effect: 'read',
  queries: ['GRAPHQL https://api.fireflies.ai/graphql'],
  input: {
    meeting,
    words: s.string('Words that are all said there.', { minLength: 1, maxLength: 200 }),
    limit: s.integer('Passages.', { min: 1, max: 20, default: 5 }),
  },
  keywords: ['quote', 'mention', 'when did we say'],
  examples: [{ meeting: '01JABCDEF0', words: 'launch date' }],
  async run(args, cx) {
    const { title, sentences } = await read(cx, args.meeting, `title ${SENTENCES}`);
    return { title, passages: passages(turns(sentences ?? []), args.words, args.limit) };
  },
});

async function read(cx, id, fields) {
  const { transcript } = await graphql(cx, `query($id: String!) { transcript(id: $id) { ${fields} } }`, { id });
  if (!transcript) throw ToolError.notFound(`Fireflies has no meeting ${id}`);
  return transcript;
}

const uploadRecording = tool({
  name: 'upload_recording',
  description: 'Has a recording transcribed that lies at a public https address. The meeting appears after some minutes.',
  effect: 'write',
  input: {
    url: s.string('Address of the audio or video file.', { format: 'uri', pattern: '^https://' }),
    title: s.string('Title of the meeting.', { minLength: 1, maxLength: 256 }),
    attendees: s.array(
      s.object({ name: s.string('Name.').optional(), email: s.string('Address.', { format: 'email' }) }),
      'Who took part.',
      { maxItems: 50 },
    ).optional(),
    language: s.string('Language code, such as en or de.', { pattern: '^[a-z]{2}(-[A-Z]{2})?$' }).optional(),
  },
  keywords: ['audio', 'video', 'transcribe'],
  examples: [{ url: 'https://files.example.com/kickoff.mp3', title: 'Kick-off' }],
  async run(args, cx) {
    const input = filled({
      url: args.url,
      title: args.title,
      attendees: args.attendees?.map(({ name, email }) => filled({ displayName: name, email })),
      custom_language: args.language,
    });
    const { uploadAudio } = await graphql(cx, 'mutation($input: AudioUploadInput) { uploadAudio(input: $input) { success title message } }', { input });
    if (!uploadAudio.success) throw ToolError.upstream(uploadAudio.message ?? 'Fireflies did not take the recording');
    return { title: uploadAudio.title, message: uploadAudio.message };
  },
});

const inviteNotetaker = tool({
  name: 'invite_notetaker',
  description: 'Sends the note taker into a meeting that is running now.',
  effect: 'write',
  input: {
    link: s.string('Link by which people join the meeting.', { format: 'uri', pattern: '^https://' }),
    title: s.string('Title of the meeting.', { maxLength: 256 }).optional(),
    minutes: s.integer('How long it stays.', { min: 15, max: 120, default: 60 }),
  },
  keywords: ['join', 'record', 'bot'],
  examples: [{ link: 'https://meet.example.com/abc', title: 'Stand-up' }],
  async run(args, cx) {
    const { addToLiveMeeting } = await graphql(
      cx,
      'mutation($meeting_link: String!, $title: String, $duration: Int) { addToLiveMeeting(meeting_link: $meeting_link, title: $title, duration: $duration) { success } }',
      filled({ meeting_link: args.link, title: args.title, duration: args.minutes }),
    );
    if (!addToLiveMeeting.success) throw ToolError.upstream('Fireflies could not send the note taker');
    return { invited: true, leaves_after: clock(args.minutes * 60) };
  },
});

const deleteMeeting = tool({
  name: 'delete_meeting',
  description: 'Deletes a meeting with its recording and transcript, for good.',
  effect: 'destructive',
  input: { meeting },
  keywords: ['remove recording'],
  examples: [{ meeting: '01JABCDEF0' }],
  async run(args, cx) {
    const { deleteTranscript } = await graphql(cx, 'mutation($id: String!) { deleteTranscript(id: $id) { id title } }', { id: args.meeting });
    return { deleted: deleteTranscript };
  },
});

const listUsers = tool({
  name: 'list_users',
  description: 'Lists the people of the team with address, meetings and minutes.',
  effect: 'read',
  queries: ['GRAPHQL https://api.fireflies.ai/graphql'],
  keywords: ['members', 'team'],
  async run(_args, cx) {
    const { users } = await graphql(cx, 'query { users { user_id name email num_transcripts minutes_consumed is_admin } }');
    return users.map(({ user_id: id, name, email, num_transcripts: meetings, minutes_consumed: minutes, is_admin: admin }) =>
      filled({ id, name, email, meetings, minutes: Math.round(minutes ?? 0), admin }));
  },
});

export default definePlugin({
  service: 'fireflies',
  title: 'Fireflies',
  version: '0.1.0',
  description: 'Recorded meetings of Fireflies: summaries, action items, and who said what when.',
  homepage: 'https://fireflies.ai',
  categories: ['meetings', 'productivity'],
  hosts: ['api.fireflies.ai'],
  auth: [
    {
      slot: 'key',
      title: 'Fireflies API key',
      type: 'bearer',
      fields: [{ key: 'secret', title: 'API key', help: 'Fireflies: Settings, Developer settings, API key.' }],
      placement: { header: 'authorization', template: 'Bearer {secret}' },
      audience: ['https://api.fireflies.ai'],
    },
  ],
  tools: [listMeetings, getMeeting, getTranscript, searchTranscript, uploadRecording, inviteNotetaker, deleteMeeting, listUsers],
});
