// A call as other programs make it. The key is named, never written in.

export type Language = 'curl' | 'Python' | 'TypeScript' | 'MCP';
export const LANGUAGES: readonly Language[] = ['curl', 'Python', 'TypeScript', 'MCP'];

export interface Call {
  baseUrl: string;
  tool: string;
  args: Record<string, unknown>;
  /** Absent: the key's own user. */
  userId?: string;
  dryRun?: boolean;
}

/** Within single quotes of a shell nothing but the quote itself means anything. */
const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** JSON text is a JavaScript expression; line separators are not in every JavaScript. */
const json = (value: unknown, indent?: number) => JSON.stringify(value, null, indent).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

/** A value as Python writes it: JSON but for three words. Texts are left as they are. */
export function python(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object') return `{${Object.entries(value).map(([name, item]) => `${json(name)}: ${python(item)}`).join(', ')}}`;
  return json(value);
}

export function snippet(language: Language, { baseUrl, tool, args, userId, dryRun }: Call): string {
  const more = { ...(userId ? { user_id: userId } : {}), ...(dryRun ? { dry_run: true } : {}) };
  switch (language) {
    case 'curl':
      return [
        `curl ${shell(`${baseUrl}/v1/tools/${encodeURIComponent(tool)}/execute`)} \\`,
        '  -H "Authorization: Bearer $TOOLGATE_API_KEY" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d ${shell(json({ arguments: args, ...more }))}`,
      ].join('\n');
    case 'Python': {
      const named = Object.entries(more).map(([name, value]) => `, ${name}=${python(value)}`).join('');
      return [
        'from toolgate import Toolgate',
        '',
        `with Toolgate(base_url=${json(baseUrl)}) as client:  # the key is in TOOLGATE_API_KEY`,
        `    outcome = client.tools.execute(${json(tool)}, ${python(args)}${named})`,
        '    print(outcome)',
      ].join('\n');
    }
    case 'TypeScript': {
      const named = Object.keys(more).length > 0 ? `, ${json(more)}` : '';
      return [
        'import { Toolgate } from "toolgate";',
        '',
        `const client = new Toolgate({ baseUrl: ${json(baseUrl)} }); // the key is in TOOLGATE_API_KEY`,
        `const outcome = await client.tools.execute(${json(tool)}, ${json(args)}${named});`,
        'console.log(outcome);',
      ].join('\n');
    }
    case 'MCP':
      // Over MCP a key acts for its own user, and nothing is only planned.
      return json({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'svc_execute_tool', arguments: { tool_name: tool, arguments: args } } }, 2);
  }
}
