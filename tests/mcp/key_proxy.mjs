// Forwards every request to another HTTP server and adds an API key to it, unchanged otherwise: the
// conformance runner cannot send a header of its own, and its tests of Host and Origin need theirs
// to arrive as they were sent.
//
// Usage: node key_proxy.mjs http://127.0.0.1:8080 KEY
// Prints the port it listens on, then serves until it is killed or its standard input closes.

import http from "node:http";

const [target, key] = process.argv.slice(2);
const { hostname, port } = new URL(target);

const server = http.createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
  const { method, url: path } = incoming;
  const onward = http.request({ hostname, port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    outgoing.flushHeaders();
    answer.pipe(outgoing);
  });
  onward.on("error", () => outgoing.destroy());
  outgoing.on("close", () => onward.destroy());
  incoming.pipe(onward);
});

server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit(0));
