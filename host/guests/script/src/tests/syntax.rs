use super::*;
use crate::source;

fn erased(script: &str) -> String {
    let javascript =
        source::javascript(script).unwrap_or_else(|failure| panic!("{script}: {failure:?}"));
    assert_eq!(
        javascript.lines().count(),
        script.lines().count(),
        "{javascript}"
    );
    javascript[crate::place::PREAMBLE.len()..].to_owned()
}

/// Where in each line code stands that is kept.
fn assert_erased(script: &str, expected: &str) {
    let javascript = erased(script);
    let trimmed: Vec<&str> = javascript.lines().map(str::trim_end).collect();
    assert_eq!(trimmed.join("\n"), expected);
}

#[test]
fn plain_javascript_is_kept_as_it_is() {
    let script =
        "const a = b < c, f = (x) => x ?? 1; /* as */ label: for (;;) break label; `${a as_}`"
            .replace("a as_", "a");
    assert_eq!(erased(&script), script);
}

#[test]
fn types_become_spaces() {
    assert_erased(
        "let a: number = 1, b!: string;",
        "let a         = 1, b         ;",
    );
    assert_erased(
        "f(x as any, y satisfies T, z!, <T>w);",
        "f(x       , y            , z ,    w);",
    );
    assert_erased(
        "function f<T>(this: X, a?: T, ...b: T[]): a is T {}",
        "function f   (         a    , ...b     )         {}",
    );
    assert_erased(
        "const g = async <T,>(a: T): Promise<T> => a;",
        "const g = async     (a   )             => a;",
    );
    assert_erased(
        "await call<Issue>({ a: 1 }); new Map<string, number>();",
        "await call       ({ a: 1 }); new Map                ();",
    );
    assert_erased(
        "try {} catch (e: unknown) {}",
        "try {} catch (e         ) {}",
    );
    assert_erased(
        "for (const x of y as X[]) {}",
        "for (const x of y       ) {}",
    );
}

#[test]
fn statements_of_types_become_empty_ones() {
    assert_erased(
        "const a = 1\ninterface X { b: 1 }\n(a)",
        "const a = 1\n;\n(a)",
    );
    assert_erased(
        "type A = 1; export type B = A; declare const c: A; export interface D {}",
        ";           ;                  ;                   ;",
    );
    assert_erased(
        "function f(a: 1): void;\nfunction f(a: any) {}",
        ";\nfunction f(a     ) {}",
    );
    assert_erased(
        "import type { A } from 'a'; export type { A };",
        ";                           ;",
    );
    assert_erased(
        "declare module 'x' { }\ndeclare enum E { A }\ndeclare namespace N { }",
        ";\n;\n;",
    );
}

#[test]
fn classes_lose_what_only_typescript_has() {
    assert_erased(
        "abstract class A<T> extends B<T> implements C, D {\n  private readonly x: number = 1\n  static #y?: string;\n  declare z: 1;\n  [key: string]: any;\n  abstract m(): void;\n  public static async n?(this: A): Promise<void> {}\n  constructor(a: 1);\n  constructor(a: any) { super() }\n}",
        "         class A    extends B                    {\n  ;                x         = 1\n  static #y         ;\n  ;\n  ;\n  ;\n  ;      static async n (       )                {}\n  ;\n  constructor(a     ) { super() }\n}",
    );
    assert_erased(
        "const c = class implements I { ['a']?: 1 }",
        "const c = class              { ['a']     }",
    );
}

#[test]
fn what_follows_a_type_in_the_next_line_is_not_joined() {
    assert_erased("const a = b as any\n(c)", "const a = b;\n(c)");
    assert_erased("const a = b as any\n+ c", "const a = b\n+ c");
    assert_erased(
        "class A {\n  a = 1\n  private ['b'] = 2\n}",
        "class A {\n  a = 1\n  ;       ['b'] = 2\n}",
    );
    assert_erased("const f = (a): {\n  b: 1\n} => a", "const f = (a\n\n) => a");
    assert_eq!(
        result_of("const f = (a: number): Array<\n  number\n> => [a];\nexport default f(1)"),
        json!([1])
    );
    assert_eq!(
        result_of("const f = () => { return <\n T\n>(a: T) => a };\nexport default f()(1)"),
        json!(1)
    );
}

#[test]
fn what_needs_other_code_is_refused_with_its_place() {
    for (script, word) in [
        ("1;\n enum E { A }", "enum"),
        ("1;\n namespace N { export const a = 1 }", "namespace"),
        ("1;\n @sealed class A {}", "decorators"),
        ("1;\n export = 1", "export"),
    ] {
        let failure = failure_of(script);
        assert_eq!(failure["code"], "unsupported_syntax", "{script}: {failure}");
        assert_eq!(
            (&failure["line"], &failure["column"]),
            (&json!(2), &json!(2)),
            "{script}"
        );
        assert!(
            failure["message"].as_str().unwrap().contains(word),
            "{failure}"
        );
    }
    let failure = failure_of("class A { constructor(private a: 1) {} }");
    assert_eq!(
        (&failure["code"], &failure["column"]),
        (&json!("unsupported_syntax"), &json!(23))
    );
}

#[test]
fn an_error_of_syntax_has_its_place() {
    let failure = failure_of("const a = 1;\nconst b = = 2;");
    assert_eq!(failure["name"], "SyntaxError");
    assert_eq!(failure["code"], "syntax_error");
    assert_eq!(
        (&failure["line"], &failure["column"]),
        (&json!(2), &json!(11)),
        "{failure}"
    );
    let failure = failure_of("let a = 1;\nlet a = 2;");
    assert_eq!(
        (&failure["name"], &failure["line"]),
        (&json!("SyntaxError"), &Value::Null),
        "{failure}"
    );
    assert!(
        failure["message"].as_str().unwrap().contains("`a`"),
        "{failure}"
    );
    assert_eq!(failure["code"], "syntax_error");
    let failure = failure_of("let a = 1; a.b.c;");
    assert_eq!(
        (&failure["line"], &failure["column"]),
        (&json!(1), &json!(16)),
        "{failure}"
    );
}

/// What the interpreter knows of the language, one piece of each kind.
#[test]
fn the_language_of_today_runs() {
    for (script, expected) in [
        (
            "const o = { a: { b: null } }; o.c ??= 2; export default [o?.a?.['b']?.c ?? 1, o.c, o.x?.()]",
            json!([1, 2, null]),
        ),
        (
            "class A { #x = 1; static s = 2; static { A.t = 3 } get x() { return this.#x } has(o) { return #x in o } }\nconst a = new A(); export default [a.x, A.s, A.t, a.has(a)]",
            json!([1, 2, 3, true]),
        ),
        (
            "export default [1_000, 2 ** 3, 0b11, `${1}`, [...'ab'], { ...{ a: 1 } }, /(?<y>\\d+)(?<=1)/u.exec('x1').groups.y]",
            json!([1000, 8, 3, "1", ["a", "b"], {"a": 1}, "1"]),
        ),
        (
            "async function* g() { yield 1; yield 2 } const r = []; for await (const x of g()) r.push(x); export default r",
            json!([1, 2]),
        ),
        (
            "export default [[3, 1, 2].toSorted(), [1, 2].at(-1), [1, 2].findLast((x) => x < 2), Object.groupBy([1, 2], (x) => x % 2 ? 'odd' : 'even'), Object.fromEntries([['a', 1]]), 'aXb'.replaceAll('X', '-'), [[1], [2]].flat()]",
            json!([[1, 2, 3], 2, 1, {"odd": [1], "even": [2]}, {"a": 1}, "a-b", [1, 2]]),
        ),
        (
            "const { a = 1, ...rest } = { b: 2 }; const [x, , ...y] = [1, 2, 3]; export default [a, rest, x, y]",
            json!([1, {"b": 2}, 1, [3]]),
        ),
        (
            "const r = await Promise.allSettled([1, Promise.reject(2)]); export default r.map((x) => x.status)",
            json!(["fulfilled", "rejected"]),
        ),
        (
            "out: for (const a of [1, 2]) { for (const b of [1, 2]) { if (b > 1) continue out; if (a > 1) break out } } export default new Set([1, 1]).size",
            json!(1),
        ),
        (
            "let s = 0; for (const [k, v] of new Map([['a', 1]])) s += v; try { null.x } catch { s++ } finally { s++ } export default s",
            json!(3),
        ),
        (
            "export default async function () { return [typeof encodeURIComponent, (1234.5).toFixed(2), (1e6).toLocaleString().length > 5, 'é'.normalize('NFD').length, parseInt('7')] }",
            json!(["function", "1234.50", true, 2, 7]),
        ),
        (
            "const f = async (n) => n * 2; export default async x => (await Promise.all([1, 2].map(f))).concat(x.name)",
            json!([2, 4, "toolgate"]),
        ),
        ("export default\nasync () => 5;", json!(5)),
        (
            "const { promise, resolve } = Promise.withResolvers(); resolve(1); export default await promise",
            json!(1),
        ),
    ] {
        assert_eq!(result_of(script), expected, "{script}");
    }
}

#[test]
fn a_typed_script_runs() {
    let mut driven = Driven::start(
        "interface Issue { number: number; title?: string }\nconst issues = await github.listIssues<Issue[]>({ state: 'open' } as const);\nexport default async function main(input: { name: string }): Promise<string[]> {\n  return issues.map((issue: Issue): string => `${input.name}#${issue.number!}`);\n}",
    );
    assert_eq!(driven.turn["steps"][0]["line"], json!(2));
    let turn = driven.give_ok(0, json!([{"number": 1}, {"number": 2}]));
    assert_eq!(turn["end"]["ok"], json!(["toolgate#1", "toolgate#2"]));
}
