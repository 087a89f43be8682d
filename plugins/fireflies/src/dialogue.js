// A transcript as people read it. Fireflies keeps a meeting as thousands of sentences with times in
// seconds; a model reads turns, and seldom all of them.

/** `h:mm:ss`, or `m:ss` in the first hour. */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number) => String(number).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Seconds of `1:02:03`, `62:03` or `3723`. */
export const seconds = (text) => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);

/** Sentences that follow each other from one speaker, as one turn. */
export function turns(sentences) {
  const out = [];
  for (const { speaker_name: speaker, text, start_time: start } of sentences) {
    const last = out.at(-1);
    if (last && last.speaker === (speaker ?? 'Unknown')) last.text += ` ${text.trim()}`;
    else out.push({ at: clock(start), speaker: speaker ?? 'Unknown', text: text.trim() });
  }
  return out;
}

/** How long each person spoke, the longest first. */
export function shares(sentences) {
  const spoken = new Map();
  for (const { speaker_name: speaker, start_time: start, end_time: end } of sentences) {
    const name = speaker ?? 'Unknown';
    spoken.set(name, (spoken.get(name) ?? 0) + Math.max(0, end - start));
  }
  const total = [...spoken.values()].reduce((sum, one) => sum + one, 0) || 1;
  return [...spoken]
    .sort(([, one], [, other]) => other - one)
    .map(([speaker, time]) => ({ speaker, time: clock(time), share: Math.round((time / total) * 100) / 100 }));
}

/** Where all of `words` are said within a turn or two, with what was said around it. */
export function passages(all, words, most) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (text) => wanted.every((word) => text.toLowerCase().includes(word));
  const found = [];
  for (let n = 0; n < all.length && found.length < most; n++) {
    const here = all[n].text;
    const pair = n + 1 < all.length ? `${here} ${all[n + 1].text}` : here;
    if (holds(here)) found.push(all.slice(Math.max(0, n - 1), n + 2));
    else if (holds(pair) && !holds(all[n + 1].text)) found.push(all.slice(n, n + 2));
  }
  return found;
}
