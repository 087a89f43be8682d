// A personal data server of Bluesky with a directory of its own; the environment holds the settings of the former.

import { Database, PlcServer } from '@did-plc/server'
import { PDS, envToCfg, envToSecrets, readEnv } from '@atproto/pds'

await PlcServer.create({ db: Database.mock(), port: Number(process.env.PLC_PORT) }).start()
const settings = readEnv()
await (await PDS.create(envToCfg(settings), envToSecrets(settings))).start()
