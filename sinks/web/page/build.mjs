// Builds ../dist from these sources and the libraries of package-lock.json; the same sources give the same bytes.

import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "dist");
const LIBRARIES = ["@nats-io/nats-core", "@nats-io/nkeys", "@nats-io/nuid", "tweetnacl", "uplot"]; // what goes into the bundle

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.js" },
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome110", "firefox110", "safari16"],
  legalComments: "none",
  metafile: true,
  outdir: out,
});
await build({ absWorkingDir: here, entryPoints: { app: "style/app.css" }, bundle: true, minify: true, outdir: out });

const bundled = new Set(Object.keys(result.metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
const unnamed = [...bundled].filter((name) => !LIBRARIES.includes(name));
if (unnamed.length) throw new Error(`bundled without their licence: ${unnamed.join(", ")}: add them to LIBRARIES`);

const licences = LIBRARIES.filter((name) => bundled.has(name)).map((name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(out, "LICENSES.txt"), `Driftscope's dashboard contains these libraries.\n\n${licences.join(`\n${"-".repeat(80)}\n\n`)}`);
for (const name of ["index.html", "icon.svg"]) copyFileSync(join(here, name), join(out, name));
