// Which shipped service has which logo of simple-icons (CC0-1.0), by the name of its service and the slug of its icon. A service
// that is not here has a monogram. The build makes one file of each; nothing else of simple-icons reaches the page.

/** Services whose icon has their own name, without the underscores. */
const SAME = [
  'adyen', 'aftership', 'aircall', 'airtable', 'algolia', 'anthropic', 'arxiv', 'asana', 'auth0', 'basecamp', 'better_stack',
  'bigcommerce', 'bitbucket', 'bitly', 'blogger', 'bluesky', 'box', 'brevo', 'brex', 'buffer', 'buildkite', 'calendly',
  'circleci', 'clickup', 'clockify', 'cloudflare', 'coda', 'confluence', 'contentful', 'databricks', 'datadog', 'deepgram',
  'deepl', 'digitalocean', 'directus', 'discord', 'dropbox', 'ebay', 'egnyte', 'elasticsearch', 'elevenlabs', 'etsy', 'figma',
  'fitbit', 'ghost', 'giphy', 'gitea', 'github', 'gitlab', 'gmail', 'google_analytics', 'google_bigquery', 'google_calendar',
  'google_chat', 'google_classroom', 'google_cloud_storage', 'google_docs', 'google_drive', 'google_forms', 'google_gemini',
  'google_meet', 'google_search_console', 'google_sheets', 'google_slides', 'google_tasks', 'google_translate', 'grafana',
  'greenhouse', 'gumroad', 'gusto', 'helpscout', 'hetzner', 'home_assistant', 'hubspot', 'hugging_face', 'influxdb',
  'instagram', 'intercom', 'jira', 'lemon_squeezy', 'line', 'linear', 'loops', 'mailchimp', 'mailgun', 'mapbox', 'mastodon',
  'matrix', 'mattermost', 'medium', 'meilisearch', 'metabase', 'miro', 'mixpanel', 'mlflow', 'n8n', 'nasa', 'neon', 'netlify',
  'newrelic', 'nextcloud', 'notion', 'ntfy', 'okta', 'openrouter', 'opsgenie', 'paddle', 'pagerduty', 'paypal', 'perplexity',
  'personio', 'pexels', 'pinterest', 'posthog', 'postman', 'prometheus', 'pubmed', 'qdrant', 'quickbooks', 'rabbitmq',
  'razorpay', 'reddit', 'render', 'replicate', 'resend', 'rollbar', 'sanity', 'semantic_scholar', 'sentry', 'shopify',
  'shortcut', 'snowflake', 'soundcloud', 'spotify', 'square', 'squarespace', 'stackexchange', 'statuspage', 'storyblok',
  'strava', 'stripe', 'supabase', 'surveymonkey', 'telegram', 'ticketmaster', 'tiktok', 'todoist', 'toggl', 'trello', 'tumblr',
  'twitch', 'typeform', 'unsplash', 'vercel', 'vimeo', 'vonage', 'vultr', 'webex', 'webflow', 'wikipedia', 'wise',
  'woocommerce', 'wordpress', 'xero', 'yelp', 'youtube', 'zendesk', 'zoom',
];

/** The others. */
const OTHER: Record<string, string> = {
  alertmanager: 'prometheus',
  brave_search: 'brave',
  cal_com: 'caldotcom',
  devto: 'devdotto',
  docker_hub: 'docker',
  docker_registry: 'docker',
  dropbox_sign: 'dropbox',
  facebook_ads: 'meta',
  facebook_pages: 'facebook',
  fly_io: 'flydotio',
  google_admin: 'google',
  google_business_profile: 'google',
  google_contacts: 'google',
  google_places: 'googlemaps',
  google_routes: 'googlemaps',
  guardian: 'theguardian',
  hackernews: 'ycombinator',
  linode: 'akamai',
  mistral: 'mistralai',
  nytimes: 'newyorktimes',
  onepassword: '1password',
  open_library: 'internetarchive',
  rocketchat: 'rocketdotchat',
  sonarcloud: 'sonarqubecloud',
  terraform_cloud: 'terraform',
  tmdb: 'themoviedatabase',
  twitter: 'x',
  whatsapp_business: 'whatsapp',
  zoho_crm: 'zoho',
  zoho_desk: 'zoho',
  zoho_mail: 'zoho',
};

export const SLUGS: ReadonlyMap<string, string> = new Map([...SAME.map((name) => [name, name.replaceAll('_', '')] as const), ...Object.entries(OTHER)]);
