/** Starts `virt-render lsp`, and tells it whether the workspace is trusted: nothing is built before that. */

import { commands, ExtensionContext, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const NAME = "virt-render";

let client: LanguageClient | undefined;

/** How the server is started: the settings have the scope `machine`, so that no repository has a say in them. */
function server(): ServerOptions {
  const settings = workspace.getConfiguration(NAME);
  const words = settings.get<string[]>("arguments", []);
  return { command: settings.get<string>("path", NAME), args: ["lsp", ...words] };
}

/** Hovers are text: no command in one is run, and no HTML shown. */
const options: LanguageClientOptions = {
  documentSelector: [{ scheme: "file", language: "yaml" }],
  initializationOptions: () => ({ trusted: workspace.isTrusted }),
  markdown: { isTrusted: false, supportHtml: false },
};

async function restart(): Promise<void> {
  await client?.dispose();
  client = new LanguageClient(NAME, NAME, server(), options);
  await client.start();
}

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand(`${NAME}.restart`, restart),
    workspace.onDidGrantWorkspaceTrust(restart),
    workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration(NAME) ? restart() : undefined)),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
  client = undefined;
}
