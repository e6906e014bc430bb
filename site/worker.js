// Web workers of a page that was opened as a file, for the search: browsers start none from file://. The worker's script runs in a
// hidden frame instead; MkDocs Material asks for IFrameWorker. Pages from a server use real workers.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const base = new URL(url, document.baseURI);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      const inside = frame.contentWindow;
      const load = (source) => new Promise((loaded, failed) => {
        const script = inside.document.createElement("script");
        script.src = new URL(source, base).href;
        script.onload = loaded;
        script.onerror = failed;
        inside.document.head.append(script);
      });
      inside.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      this.ready = load(base);
    }
    set onmessage(listener) { this.addEventListener("message", listener); }
    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", {data}));
      });
    }
    terminate() { this.frame.remove(); }
  };
  window.Worker = window.IFrameWorker;
}
