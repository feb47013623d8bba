// Harvest with oai-pmh from npm: one line per record,
// `identifier TAB datestamp TAB deleted TAB sets`.
//
// Usage: oai_pmh_harvest.cjs BASE_URL [set=SPEC] [from=DATE] [until=DATE]
//
// Its known fault: a page of a single record is not an array to it and makes
// it throw, so whoever runs this chooses page sizes that leave no such page.
const { OaiPmh } = require('oai-pmh')

function asList (value) {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

async function main () {
  const [baseUrl, ...selection] = process.argv.slice(2)
  const options = { metadataPrefix: 'oai_dc' }
  for (const pair of selection) {
    const at = pair.indexOf('=')
    options[pair.slice(0, at)] = pair.slice(at + 1)
  }
  const lines = []
  for await (const record of new OaiPmh(baseUrl).listRecords(options)) {
    const header = record.header
    const deleted = header.$ !== undefined && header.$.status === 'deleted'
    if (!deleted && record.metadata === undefined) {
      throw new Error(`${header.identifier} came without metadata`)
    }
    const sets = asList(header.setSpec).sort().join(' ')
    lines.push([header.identifier, header.datestamp, deleted ? 1 : 0, sets].join('\t'))
  }
  process.stdout.write(lines.map(line => line + '\n').join(''))
}

main().catch(error => {
  console.error(error)
  process.exitCode = 1
})
