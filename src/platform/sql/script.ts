/**
 * A script of SQL, statement by statement: one ends with a semicolon at the end of a line, but for
 * the bodies between $$. Citus, which passes on to its workers what changes a distributed table,
 * takes one at a time.
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

/** Of several constraints that a statement adds to a table Citus takes one at a time, too. */
function constraintsOneByOne(statement: string): string[] {
  const [, table = '', list = ''] =
    /^alter table (\w+)\s+(add constraint [\s\S]+);\s*$/.exec(statement) ?? []
  const added = list.split(/,\n\s*(?=add constraint )/)
  return added.length > 1 ? added.map((one) => `alter table ${table} ${one};`) : [statement]
}
