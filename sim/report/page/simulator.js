// In a worker: one simulator, which gets its code and files first, then questions.
let asked = Promise.resolve();
let simulator;

async function start({ module, files, folder }) {
  simulator = await farandoleCore({
    instantiateWasm: (imports, done) => { WebAssembly.instantiate(module, imports).then(instance => done(instance, module)); return {}; },
    locateFile: name => name,
  });
  simulator.FS.mkdirTree(folder);
  simulator.FS.chdir(folder);
  for (const [name, text] of Object.entries(files)) {
    const end = name.lastIndexOf('/');
    if (end > 0) simulator.FS.mkdirTree(name.slice(0, end));
    simulator.FS.writeFile(name, text);
  }
}

self.onmessage = ({ data }) => {
  asked = asked.then(async () => {
    if (!simulator) return start(data);
    self.postMessage(simulator.ccall('farandole_answer', 'string', ['string'], [data]));
  });
};
