// Light, dark, or as the system says. The choice stays in this browser.

export type Theme = 'system' | 'light' | 'dark';
const STORED = 'toolgate.theme';

export function theme(): Theme {
  const stored = localStorage.getItem(STORED);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function setTheme(chosen: Theme): void {
  if (chosen === 'system') {
    localStorage.removeItem(STORED);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(STORED, chosen);
    document.documentElement.dataset.theme = chosen;
  }
}
