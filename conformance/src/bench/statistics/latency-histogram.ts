// Counts durations in buckets that grow with the value, so that millions of samples take a few kilobytes, histograms of several
// processes can be added up, and a percentile is at most 0.8 percent too high. Pure.

const exactBits = 8;
const subBucketCount = 1 << (exactBits - 1);
const exactCount = 1 << exactBits;
const bucketCount = exactCount + (32 - exactBits) * subBucketCount;
const largest = 2 ** 32 - 1;

/** A histogram as it travels between processes: only the buckets in use, as index and count. */
export type HistogramRecord = {
  readonly maxUs: number;
  readonly buckets: readonly (readonly [index: number, count: number])[];
};

export type LatencySummary = {
  readonly count: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly maxUs: number;
};

export class LatencyHistogram {
  readonly #counts = new Float64Array(bucketCount);
  #count = 0;
  #maxUs = 0;

  get count(): number {
    return this.#count;
  }

  get maxUs(): number {
    return this.#maxUs;
  }

  /** One duration in microseconds; below 0 counts as 0, above an hour as an hour. */
  add(durationUs: number): void {
    const value = Math.min(largest, Math.max(0, Math.round(durationUs)));
    const index = bucketOf(value);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count += 1;
    if (value > this.#maxUs) this.#maxUs = value;
  }

  addAll(record: HistogramRecord): void {
    for (const [index, count] of record.buckets) {
      this.#counts[index] = (this.#counts[index] ?? 0) + count;
      this.#count += count;
    }
    this.#maxUs = Math.max(this.#maxUs, record.maxUs);
  }

  /** The least duration that at least this share (0 to 1) of the samples does not exceed; 0 without samples. */
  percentileUs(share: number): number {
    const wanted = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (const [index, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= wanted) return Math.min(this.#maxUs, highestIn(index));
    }
    return this.#maxUs;
  }

  summary(): LatencySummary {
    return {
      count: this.#count,
      p50Us: this.percentileUs(0.5),
      p90Us: this.percentileUs(0.9),
      p99Us: this.percentileUs(0.99),
      p999Us: this.percentileUs(0.999),
      maxUs: this.#maxUs,
    };
  }

  record(): HistogramRecord {
    const used = [...this.#counts.entries()].filter(([, count]) => count > 0);
    return { maxUs: this.#maxUs, buckets: used };
  }
}

function bucketOf(value: number): number {
  if (value < exactCount) return value;
  const shift = 32 - Math.clz32(value) - exactBits;
  return exactCount + (shift - 1) * subBucketCount + (value >>> shift) - subBucketCount;
}

/** The largest value that falls into a bucket. */
function highestIn(index: number): number {
  if (index < exactCount) return index;
  const shift = Math.floor((index - exactCount) / subBucketCount) + 1;
  const leading = subBucketCount + ((index - exactCount) % subBucketCount);
  return (leading + 1) * 2 ** shift - 1;
}
