// The icons of the dashboard, one path list each, drawn on a 24 grid.

const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  tools: 'M14.5 5.5a4 4 0 0 0-5 5L4 16v4h4l5.500-5.500a4 4 0 0 0 5-5L15.500 12.500 12 12l-.5-3.500z',
  integrations: 'M9 3v5M15 3v5M6 8h12v4a6 6 0 0 1-12 0zM12 18v3',
  connections: 'M9 15l6-6M10.500 6.500l2-2a4.200 4.200 0 0 1 6 6l-2 2M13.500 17.500l-2 2a4.200 4.200 0 0 1-6-6l2-2',
  plugins: 'M12 3l8 4.500v9L12 21l-8-4.500v-9zM4 7.500l8 4.500 8-4.500M12 12v9',
  toolsets: 'M4 8h16v11H4zM9 8V5h6v3M4 13h16M12 12v2',
  skills: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11M9 8h6',
  permissions: 'M12 3l7 3v5c0 4.500-3 8-7 10-4-2-7-5.500-7-10V6zM9 12l2 2 4-4',
  approvals: 'M6 3h12M6 21h12M7 3c0 5 10 6 10 12v6M17 3c0 5-10 6-10 12v6',
  executions: 'M3 12h4l3-8 4 16 3-8h4',
  scripts: 'M8 6l-6 6 6 6M16 6l6 6-6 6M13.500 4l-3 16',
  sessions: 'M4 5h16v11H9l-5 4z',
  webhooks: 'M12 8a3 3 0 1 0-2.500-1.300L6 13M12 5l4 7M6 13a3 3 0 1 0 3 3h7M16 16a3 3 0 1 0 .5-3.600',
  triggers: 'M13 3L5 14h6l-1 7 8-11h-6z',
  knowledge: 'M4 6c0-1.700 3.600-3 8-3s8 1.300 8 3-3.600 3-8 3-8-1.300-8-3zM4 6v12c0 1.700 3.600 3 8 3s8-1.300 8-3V6M4 12c0 1.700 3.600 3 8 3s8-1.300 8-3',
  keys: 'M14 10a4 4 0 1 1-4-4 4 4 0 0 1 4 4zM13 13l7 7M17 17l2-2',
  members: 'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM3 20c0-3.500 2.500-6 6-6s6 2.500 6 6M16 4.500a3.500 3.500 0 0 1 0 6M18 14.500c2 .8 3 2.800 3 5.500',
  workspace: 'M4 21V5l8-2v18M12 9h8v12M3 21h18M8 8v0M8 12v0M8 16v0M16 13v0M16 17v0',
  audit: 'M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h7',
  clients: 'M4 5h16v11H4zM9 20h6M12 16v4M8 9l2 1.500L8 12M12 12h3',
  menu: 'M4 6h16M4 12h16M4 18h16',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  done: 'M5 12.500l4.500 4.500L19 7',
  warn: 'M12 4l9 16H3zM12 10v4M12 17v.1',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8v.1',
  more: 'M5 11.500a.5.5 0 1 0 .01 0zM12 11.500a.5.5 0 1 0 .01 0zM19 11.500a.5.5 0 1 0 .01 0z',
  plus: 'M12 5v14M5 12h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4.900 4.900l1.400 1.400M17.700 17.700l1.400 1.400M2 12h2M20 12h2M4.900 19.100l1.400-1.400M17.700 6.300l1.400-1.400',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z',
  screen: 'M3 5h18v12H3zM9 21h6M12 17v4',
  upload: 'M12 16V4M7 9l5-5 5 5M4 20h16',
  download: 'M12 4v12M7 11l5 5 5-5M4 20h16',
  external: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.500-7 8-7s8 3 8 7',
  out: 'M10 4H4v16h6M15 8l4 4-4 4M19 12H9',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  play: 'M7 4l13 8-13 8z',
  undo: 'M4 9h10a6 6 0 0 1 0 12H8M4 9l5-5M4 9l5 5',
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration only: the text beside it, or the button's label, says what it means. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
