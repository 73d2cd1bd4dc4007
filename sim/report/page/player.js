// What steps through a chart: buttons, a slider, and a sentence for each step. Space plays, arrow keys on the slider step.

const isCalm = () => window.matchMedia('(prefers-reduced-motion: reduce)').matches;

class Player {
  // `label` names the slider; the chart sets `steps` (texts), `show(at, isMoving)` and `pause(at)` (milliseconds) whenever it is drawn.
  constructor(figure, label) {
    this.at = 0;
    const place = document.createElement('div');
    place.className = 'player';
    figure.querySelector('.plot').before(place);
    const button = (text, action) => {
      const made = place.appendChild(document.createElement('button'));
      made.type = 'button';
      made.textContent = text;
      made.addEventListener('click', action);
      return made;
    };
    button('Back', () => this.go(this.at - 1));
    this.play = button('Play', () => (this.timer ? this.stop() : this.start()));
    button('Next', () => this.go(this.at + 1));
    this.slider = place.appendChild(document.createElement('input'));
    Object.assign(this.slider, { type: 'range', min: 0, step: 1, value: 0 });
    this.slider.setAttribute('aria-label', label);
    this.slider.addEventListener('input', () => this.go(Number(this.slider.value), false));
    this.prose = document.createElement('p');
    this.prose.className = 'prose';
    this.prose.setAttribute('aria-live', 'polite');
    place.after(this.prose);
  }

  // Of a figure, made when it is first drawn and kept when it is drawn again.
  static of(figure, label) {
    return figure.player ?? (figure.player = new Player(figure, label));
  }

  ready() {
    this.slider.max = this.steps.length - 1;
    this.render(Math.min(this.at, this.steps.length - 1), false);
  }

  render(at, isMoving) {
    this.at = at;
    this.slider.value = at;
    this.slider.setAttribute('aria-valuetext', this.steps[at].split('. ')[0]);
    this.prose.textContent = this.steps[at];
    this.show(at, isMoving && !isCalm());
  }

  go(at, isMoving = true) {
    this.stop();
    this.render(Math.max(0, Math.min(this.steps.length - 1, at)), isMoving && at > this.at);
  }

  start() {
    if (this.at === this.steps.length - 1) this.render(0, false);
    this.play.textContent = 'Pause';
    const next = () => {
      if (this.at === this.steps.length - 1) return this.stop();
      this.render(this.at + 1, true);
      this.timer = setTimeout(next, this.pause(this.at));
    };
    this.timer = setTimeout(next, 300);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.play.textContent = 'Play';
  }
}
