// As much of VS Code's interface as a language client uses: a folder, its open files, and what is said of them.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

class Disposable {
  constructor(dispose) { this._dispose = dispose; }
  static from(...several) { return new Disposable(() => several.forEach((one) => one.dispose())); }
  dispose() { this._dispose?.(); this._dispose = undefined; }
}

class EventEmitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener, self, disposables) => {
      const bound = self ? listener.bind(self) : listener;
      this.listeners.add(bound);
      const disposable = new Disposable(() => this.listeners.delete(bound));
      disposables?.push(disposable);
      return disposable;
    };
  }
  async fire(value) { for (const one of [...this.listeners]) await one(value); }
  dispose() { this.listeners.clear(); }
}

class Uri {
  constructor(text) { this.text = text; this.scheme = text.split(":")[0]; }
  static parse(text) { return new Uri(text); }
  static file(file) { return new Uri(pathToFileURL(file).href); }
  get fsPath() { return fileURLToPath(this.text); }
  get path() { return this.fsPath; }
  with() { return this; }
  toString() { return this.text; }
  toJSON() { return this.text; }
}

class Position {
  constructor(line, character) { this.line = line; this.character = character; }
}

class Range {
  constructor(start, end, endLine, endCharacter) {
    const numbers = endCharacter !== undefined;
    this.start = numbers ? new Position(start, end) : start;
    this.end = numbers ? new Position(endLine, endCharacter) : end;
  }
}

class Diagnostic {
  constructor(range, message, severity) { Object.assign(this, { range, message, severity }); }
}

class MarkdownString {
  constructor(value) { this.value = value; this.isTrusted = undefined; this.supportHtml = undefined; }
  appendMarkdown(value) { this.value = (this.value ?? "") + value; return this; }
  appendCodeblock(value) { return this.appendMarkdown(value); }
}

class Hover {
  constructor(contents, range) { Object.assign(this, { contents: [contents].flat(), range }); }
}

class CancellationTokenSource {
  constructor() { this.token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event }; }
  cancel() {}
  dispose() {}
}

class TextDocument {
  constructor(file, text) {
    Object.assign(this, { uri: Uri.file(file), fileName: file, languageId: "yaml", version: 1, text, isClosed: false });
  }
  getText() { return this.text; }
}

/** Members that exist, and for every other name a class without any. */
function complete(members) {
  return new Proxy(members, {
    get(known, name) {
      if (!(name in known) && typeof name === "string") known[name] = class {};
      return known[name];
    },
    has: () => true,
  });
}

/** Members that exist, and for every other name an event, or a function that registers something. */
function place(members) {
  return new Proxy(members, {
    get(known, name) {
      if (!(name in known) && typeof name === "string") {
        known[name] = name.startsWith("on") ? new EventEmitter().event : () => new Disposable();
      }
      return known[name];
    },
  });
}

/** A window with *folder* open, *trusted* or not, and the *settings* of the user. */
exports.make = function make(folder, trusted, settings) {
  const said = new Map();
  const news = new EventEmitter();
  const events = {};
  const event = (name) => (events[name] = new EventEmitter()).event;
  const providers = { hover: [], action: [] };
  const documents = [];
  const output = place({ append() {}, appendLine() {}, show() {}, dispose() {}, logLevel: 3 });

  const vscode = complete({
    Disposable, EventEmitter, Uri, Position, Range, Diagnostic, MarkdownString, Hover, CancellationTokenSource,
    version: "1.91.0",
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
    LogLevel: { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 },
    CodeActionKind: new Proxy({}, { get: (_, name) => ({ value: String(name), append: () => ({}) }) }),
    SymbolKind: {}, CompletionItemKind: {}, CompletionItemTag: {}, SymbolTag: {}, TextDocumentSaveReason: {},
    env: place({ appName: "stand-in", language: "en", clipboard: {} }),
    extensions: place({ all: [], getExtension: () => undefined }),
    commands: place({ registerCommand: () => new Disposable(), executeCommand: async () => undefined }),
    window: place({
      createOutputChannel: () => output,
      showErrorMessage: async (message) => { console.error(message); },
      showInformationMessage: async () => undefined,
      showWarningMessage: async () => undefined,
      visibleTextEditors: [], activeTextEditor: undefined, tabGroups: place({ all: [] }),
      withProgress: (_, task) => task({ report() {} }, new CancellationTokenSource().token),
    }),
    languages: place({
      match: (selector, document) => [selector].flat().some((one) => one.language === document.languageId) ? 10 : 0,
      createDiagnosticCollection: () => ({
        set(uri, diagnostics) { said.set(path.relative(folder, uri.fsPath), diagnostics ?? []); news.fire(); },
        delete(uri) { said.delete(path.relative(folder, uri.fsPath)); },
        clear() { said.clear(); },
        dispose() {}, forEach() {}, get() {}, has() {},
      }),
      registerHoverProvider: (_, provider) => { providers.hover.push(provider); return new Disposable(); },
      registerCodeActionsProvider: (_, provider) => { providers.action.push(provider); return new Disposable(); },
    }),
    workspace: place({
      isTrusted: trusted,
      workspaceFolders: [{ uri: Uri.file(folder), name: path.basename(folder), index: 0 }],
      getWorkspaceFolder: () => undefined,
      textDocuments: documents, notebookDocuments: [],
      getConfiguration: (section) => ({
        get: (name, otherwise) => settings[section ? `${section}.${name}` : name] ?? otherwise,
        has: () => false, inspect: () => undefined,
      }),
      createFileSystemWatcher: () => place({ dispose() {} }),
      onDidOpenTextDocument: event("open"),
      onDidChangeTextDocument: event("change"),
      onDidCloseTextDocument: event("close"),
      onDidSaveTextDocument: event("save"),
      onDidGrantWorkspaceTrust: event("trust"),
      fs: place({ isWritableFileSystem: () => true }),
    }),
  });

  return {
    vscode, said, providers,
    async open(name) {
      const file = path.join(folder, name);
      const document = new TextDocument(file, fs.readFileSync(file, "utf8"));
      documents.push(document);
      await events.open.fire(document);
      return document;
    },
    async type(document, text) {
      document.text = text;
      document.version += 1;
      await events.change.fire({ document, contentChanges: [{ text }], reason: undefined });
    },
    async save(document) {
      fs.writeFileSync(document.fileName, document.text);
      await events.save.fire(document);
    },
    async trust() { vscode.workspace.isTrusted = true; await events.trust.fire(); },
    /** Wait until *holds* of what is said. */
    until(holds) {
      return new Promise((resolve) => {
        const look = () => { if (holds(said)) { subscription.dispose(); resolve(); } };
        const subscription = news.event(look);
        look();
      });
    },
  };
};
