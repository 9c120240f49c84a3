// Keeps the page up to date, and gives it keys. Without it, the page reloads itself.
(() => {
  const at = document.body.dataset.events, link = document.getElementById('link'), keep = 200;
  const $ = selector => document.querySelector(selector), $$ = selector => [...document.querySelectorAll(selector)];
  const go = $('[data-go]');
  if (go) setTimeout(() => location.replace(go.dataset.go), 1500);
  const log = document.getElementById('log');
  if (log) log.scrollTop = log.scrollHeight;
  const here = () => $$('#strip a, .list a').filter(a => a.getAttribute('href') === location.pathname).forEach(a => a.setAttribute('aria-current', 'page'));
  here();
  const visit = a => { if (a) location.assign(a.getAttribute('href')); };
  const step = (links, by, from) => links[links.indexOf(from) + by] || (from ? null : links.at(by < 0 ? -1 : 0));
  const rows = () => $$('.list a, .cards h2 a').filter(a => a.offsetParent);
  const keys = {
    ArrowLeft: () => visit(step($$('#strip a'), -1, $('#strip a[aria-current]'))),
    ArrowRight: () => visit(step($$('#strip a'), 1, $('#strip a[aria-current]'))),
    j: () => step(rows(), 1, rows().find(a => a === document.activeElement))?.focus(),
    k: () => step(rows(), -1, rows().find(a => a === document.activeElement))?.focus(),
    u: () => $('#asked textarea, #asked a')?.focus(),
    t: () => { location.hash = 'at-plan'; rows()[0]?.focus(); },
    l: () => { location.hash = 'at-log'; log?.focus(); },
    d: () => $('#diff')?.scrollIntoView(),
    Escape: () => document.getElementById('back')?.click(),
    '?': () => document.getElementById('keys')?.showModal(),
  };
  addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input,textarea,dialog[open]') || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
  if (!at) return;
  let source = null, heard = 0;
  const typing = el => el.contains(document.activeElement) && /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName) ||
    [...el.querySelectorAll('input:not([type=hidden]),textarea')].some(i => i.value);
  const part = (tag, role, text) => {
    const el = document.createElement(tag);
    el.className = role; el.append(text);
    return el;
  };
  const on = {
    part(p) {
      const el = document.getElementById(p.id);
      if (!el || typing(el)) return;
      const open = [...el.querySelectorAll('details')].map(d => d.open), focus = el.contains(document.activeElement) && document.activeElement.href;
      el.innerHTML = p.html;
      el.querySelectorAll('details').forEach((d, i) => { d.open = !!open[i]; });
      if (focus) [...el.querySelectorAll('a')].find(a => a.href === focus)?.focus();
      here();
    },
    clear() { log?.replaceChildren(); },
    line(l) {
      if (!log) return;
      const follow = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
      let last = log.lastElementChild;
      if (l.role === 'answer' && last && (last.className === 'tool' || last.tagName === 'DETAILS')) { // it folds under its call
        if (last.tagName !== 'DETAILS') {
          const call = part('summary', 'tool', '');
          call.append(...last.childNodes);
          last.replaceWith(last = document.createElement('details'));
          last.append(call);
        }
        last.append(part('div', l.role, l.text));
      } else {
        const row = part('div', l.role, part('span', 'at', l.at || ''));
        row.append(' ' + l.text);
        log.append(row);
      }
      while (log.childElementCount > keep) log.firstElementChild.remove();
      if (follow) log.scrollTop = log.scrollHeight;
    },
    beat() {},
  };
  const close = () => { source?.close(); source = null; };
  const open = () => {
    close();
    heard = Date.now();
    source = new EventSource(at);
    for (const name of Object.keys(on)) source.addEventListener(name, e => {
      heard = Date.now();
      link.textContent = '';
      on[name](JSON.parse(e.data));
    });
    source.onerror = () => { link.textContent = 'no connection; trying again'; };
  };
  // A hidden page holds no connection; one that slept, or whose connection is dead, opens another.
  document.addEventListener('visibilitychange', () => document.hidden ? close() : open());
  document.addEventListener('freeze', close);
  document.addEventListener('resume', open);
  addEventListener('pageshow', e => { if (e.persisted) open(); });
  setInterval(() => {
    if (!document.hidden && (!source || source.readyState === EventSource.CLOSED || Date.now() - heard > 40000)) open();
  }, 3000);
  if (!document.hidden) open();
})();
