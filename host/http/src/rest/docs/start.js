// Has Scalar make the reference. What would ask another site, or keep the reader's key, is off.
'use strict';

const place = document.getElementById('reference');
if (window.Scalar === undefined) {
  place.textContent = 'toolgate was built without its reference: run `make dashboard` and build again.';
} else {
  window.Scalar.createApiReference(place, {
    url: '/openapi.json',
    servers: [{ url: window.location.origin }],
    authentication: { preferredSecurityScheme: 'api_key' },
    persistAuth: false,
    telemetry: false,
    withDefaultFonts: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    // The frame links to the document.
    documentDownloadType: 'none',
    hideModels: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    // Samples are for the shell, Python, JavaScript, Node.js, Go, PHP and Rust.
    hiddenClients: {
      c: true, clojure: true, csharp: true, dart: true, fsharp: true, http: true, java: true, julia: true, kotlin: true,
      objc: true, ocaml: true, powershell: true, r: true, ruby: true, swift: true,
    },
  });
}
