/** Pictures of shots, fetched when they come into view, a few at a time; only the latest are kept. */

const KEPT = 400;
const AT_ONCE = 4;

/**
 * @param {() => void} come  Called when a picture has come.
 */
export function thumbnails(come) {
  /** @type {Map<number, ImageBitmap|HTMLImageElement|null>} */
  const kept = new Map();
  let wanted = [];
  let busy = 0;

  const fetchOne = async (index) => {
    busy += 1;
    const image = new Image();
    image.decoding = "async";
    image.src = `/media/shots/${index}.jpg`;
    try {
      await image.decode();
      kept.set(index, image);
      come();
    } catch {
      kept.set(index, null); // a shot without a picture is a shot with its letter
    } finally {
      busy -= 1;
      next();
    }
  };
  const next = () => {
    while (busy < AT_ONCE && wanted.length) {
      const index = wanted.pop();
      if (!kept.has(index)) {
        kept.set(index, null);
        fetchOne(index);
      }
    }
    while (kept.size > KEPT) kept.delete(kept.keys().next().value);
  };
  return {
    /** The picture, or null; then it is fetched after `rest()`. */
    of(index) {
      const image = kept.get(index);
      if (image) {
        kept.delete(index);
        kept.set(index, image);
        return image;
      }
      if (image === undefined) wanted.push(index);
      return null;
    },
    /** Forgets what was wanted: something else comes into view. */
    anew() {
      wanted = [];
    },
    /** Fetches what is in view now. */
    rest: next,
    /** Forgets all pictures: the film has changed. */
    clear() {
      kept.clear();
      wanted = [];
    },
  };
}
