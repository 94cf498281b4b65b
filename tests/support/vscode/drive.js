// node drive.js EXTENSION FOLDER PROGRAM: what the unpacked extension shows of the folder, as JSON.
"use strict";

const Module = require("node:module");
const path = require("node:path");
const { make } = require("./stand_in.js");

async function main(extension, folder, program) {
  const editor = make(folder, false, { "virt-render.path": program, "virt-render.arguments": ["--kubevirt=1.9"] });
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? editor.vscode : load(name, ...rest));
  const manifest = require(path.join(extension, "package.json"));
  const { activate, deactivate } = require(path.join(extension, manifest.main));
  await activate({ subscriptions: [], extensionUri: editor.vscode.Uri.file(extension) });

  const codes = (name) => (editor.said.get(name) ?? []).map((one) => one.code?.value ?? one.code);
  const answer = {};
  const document = await editor.open("vms/web.yaml");
  await editor.type(document, document.text.replace("devices: {}", "devices: {}\n        memory:\n          guest: 4Gi"));
  await editor.until(() => codes("vms/web.yaml").length > 0);
  answer.typed = codes("vms/web.yaml");
  answer.untrusted = codes("prod/vm.yaml");
  const [finding] = editor.said.get("vms/web.yaml");
  const token = new editor.vscode.CancellationTokenSource().token;
  const hover = await editor.providers.hover[0].provideHover(document, finding.range.start, token);
  const [content] = hover.contents;
  answer.hover = { text: content.value, isTrusted: content.isTrusted, supportHtml: content.supportHtml };
  await editor.trust();
  await editor.until(() => codes("prod/vm.yaml").length > 0);
  answer.trusted = codes("prod/vm.yaml");
  await deactivate();
  console.log(JSON.stringify(answer));
}

main(...process.argv.slice(2)).then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
