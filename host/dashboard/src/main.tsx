import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { setTheme, theme } from './shell/theme';
import './styles.css';

setTheme(theme());

const root = document.getElementById('root');
if (!root) throw new Error('index.html has a root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
