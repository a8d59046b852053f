/**
 * Splits an SQL script into its statements. A statement ends with a semicolon at the end of a line,
 * except within bodies between $$. Citus passes changes of distributed tables on to its workers and
 * accepts only one statement at a time.
 */
export function statementsOf(script: string): string[] {
  const statements: string[] = []
  let text = ''
  for (const line of script.split('\n')) {
    if (/^\s*(--.*)?$/.test(line)) continue
    text += `${line}\n`
    const isInBody = text.split('$$').length % 2 === 0
    if (isInBody || !/;\s*(--.*)?$/.test(line)) continue
    statements.push(text)
    text = ''
  }
  return (text === '' ? statements : [...statements, text]).flatMap(constraintsOneByOne)
}

/** Splits an `alter table` that adds several constraints: Citus accepts only one at a time. */
function constraintsOneByOne(statement: string): string[] {
  const [, table = '', list = ''] =
    /^alter table (\w+)\s+(add constraint [\s\S]+);\s*$/.exec(statement) ?? []
  const added = list.split(/,\n\s*(?=add constraint )/)
  return added.length > 1 ? added.map((one) => `alter table ${table} ${one};`) : [statement]
}
