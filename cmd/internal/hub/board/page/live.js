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
  const rows = () => $$('.list a, .cards h2 a').filter(a => a.checkVisibility());
  const current = () => rows().find(a => a === document.activeElement);
  const find = document.getElementById('find');
  const sift = () => {
    const want = find.value.toLowerCase();
    if (want) $$('details:has(.list,.card)').forEach(d => { d.open = true; });
    $$('.list>li,.cards>.card,.log>*').forEach(el => { el.hidden = !el.textContent.toLowerCase().includes(want); });
  };
  find.hidden = !$('.cards,.list,.log');
  find.addEventListener('input', sift);
  find.addEventListener('keydown', e => {
    if (e.key === 'Escape') { find.value = ''; sift(); find.blur(); }
    if (e.key === 'Enter') rows()[0]?.focus();
  });
  const keys = {
    ArrowLeft: () => visit(step($$('#strip a'), -1, $('#strip a[aria-current]'))),
    ArrowRight: () => visit(step($$('#strip a'), 1, $('#strip a[aria-current]'))),
    j: () => step(rows(), 1, current())?.focus(),
    k: () => step(rows(), -1, current())?.focus(),
    u: () => $('#asked textarea, #asked a')?.focus(),
    t: () => { location.hash = 'at-plan'; rows()[0]?.focus(); },
    l: () => { location.hash = 'at-log'; log?.focus(); },
    d: () => $('#diff')?.scrollIntoView(),
    '/': () => { find.focus(); find.select(); },
    Escape: () => { sessionStorage.left = location.pathname; document.getElementById('back')?.click(); },
    '?': () => document.getElementById('keys').showModal(),
  };
  addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input,textarea,dialog[open]')) return;
    const does = keys[e.key] || current() && keys[{ArrowDown: 'j', ArrowUp: 'k'}[e.key]]; // else they scroll
    if (!does) return;
    e.preventDefault();
    does();
  });
  rows().find(a => a.getAttribute('href') === sessionStorage.left)?.focus(); // back where the key was pressed
  delete sessionStorage.left;
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
      const all = selector => [...el.querySelectorAll(selector)], named = d => d.firstElementChild.textContent.replace(/\d+/g, '');
      const name = e => e.getAttribute('href') || e.value || e.tagName === 'SUMMARY' && named(e.parentElement);
      const open = all('details[open]').map(named), across = all('.filters div').map(d => d.scrollLeft);
      const i = all('a,button,summary').indexOf(document.activeElement), had = i >= 0 && name(document.activeElement);
      el.innerHTML = p.html;
      all('details').forEach(d => { d.open = open.includes(named(d)); });
      all('.filters div').forEach((d, n) => { d.scrollLeft = across[n] || 0; });
      if (i >= 0) { // what had the focus, else what stands there now
        const there = all('a,button,summary').filter(e => e.checkVisibility());
        (there.find(e => name(e) === had) || there[Math.min(i, there.length - 1)])?.focus({preventScroll: true});
      }
      if (find.value) sift();
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
      if (find.value) sift();
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
