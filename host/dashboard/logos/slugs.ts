// Which shipped service has which logo of simple-icons (CC0-1.0), by the name of its service and the slug of its icon. A service
// that is not here has a monogram. The build makes one file of each; nothing else of simple-icons reaches the page.

/** Services whose icon has their own name, without the underscores. */
const SAME = [
  'adyen', 'aftership', 'airtable', 'algolia', 'anthropic', 'arxiv', 'asana', 'bigcommerce', 'bitbucket', 'bitly', 'blogger',
  'bluesky', 'box', 'brevo', 'brex', 'calendly', 'circleci', 'clickup', 'clockify', 'cloudflare', 'coda', 'confluence',
  'datadog', 'deepgram', 'deepl', 'digitalocean', 'discord', 'dropbox', 'ebay', 'elevenlabs', 'etsy', 'figma', 'fitbit',
  'giphy', 'github', 'gitlab', 'gmail', 'google_analytics', 'google_bigquery', 'google_calendar', 'google_chat',
  'google_classroom', 'google_cloud_storage', 'google_docs', 'google_drive', 'google_forms', 'google_gemini', 'google_meet',
  'google_search_console', 'google_sheets', 'google_slides', 'google_tasks', 'google_translate', 'hetzner', 'hubspot',
  'instagram', 'intercom', 'jira', 'line', 'linear', 'mailchimp', 'mailgun', 'mapbox', 'mastodon', 'matrix', 'mattermost',
  'medium', 'miro', 'mixpanel', 'neon', 'netlify', 'notion', 'okta', 'opsgenie', 'pagerduty', 'paypal', 'perplexity', 'pexels',
  'pinterest', 'posthog', 'postman', 'prometheus', 'quickbooks', 'reddit', 'render', 'replicate', 'resend', 'sentry',
  'shopify', 'shortcut', 'soundcloud', 'spotify', 'square', 'stackexchange', 'strava', 'stripe', 'supabase', 'surveymonkey',
  'telegram', 'ticketmaster', 'todoist', 'toggl', 'trello', 'tumblr', 'twitch', 'typeform', 'unsplash', 'vercel', 'vimeo',
  'webex', 'wordpress', 'xero', 'yelp', 'youtube', 'zendesk', 'zoom',
];

/** The others. */
const OTHER: Record<string, string> = {
  brave_search: 'brave',
  cal_com: 'caldotcom',
  devto: 'devdotto',
  dropbox_sign: 'dropbox',
  facebook_ads: 'meta',
  google_contacts: 'google',
  google_places: 'googlemaps',
  guardian: 'theguardian',
  hackernews: 'ycombinator',
  mistral: 'mistralai',
  nytimes: 'newyorktimes',
  onepassword: '1password',
  rocketchat: 'rocketdotchat',
  tmdb: 'themoviedatabase',
  twitter: 'x',
  whatsapp_business: 'whatsapp',
  zoho_crm: 'zoho',
  zoho_desk: 'zoho',
  zoho_mail: 'zoho',
};

export const SLUGS: ReadonlyMap<string, string> = new Map([...SAME.map((name) => [name, name.replaceAll('_', '')] as const), ...Object.entries(OTHER)]);
