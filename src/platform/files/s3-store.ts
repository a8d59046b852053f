import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Bucket } from '../../config.ts'
import { pathOf, type Store } from './store.ts'

/**
 * Stores contents in an S3-compatible bucket. The library is loaded only if a bucket is configured.
 */
export async function s3Store({ bucket, endpoint, region, credentials }: Bucket): Promise<Store> {
  const { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } = await import(
    '@aws-sdk/client-s3'
  )
  const client = new S3Client({
    region,
    ...(endpoint && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    // With the library's default, servers that do not know trailing checksums store them as
    // content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const object = (sha256: string) => ({ Bucket: bucket, Key: `files/${pathOf(sha256)}` })
  return {
    put: async (sha256, path, size) => {
      const Body = createReadStream(path)
      try {
        await client.send(new PutObjectCommand({ ...object(sha256), Body, ContentLength: size }))
      } finally {
        Body.destroy()
      }
    },
    open: async (sha256) => {
      const { Body } = await client.send(new GetObjectCommand(object(sha256)))
      return Body as Readable
    },
    remove: async (sha256) => {
      await client.send(new DeleteObjectCommand(object(sha256)))
    },
  }
}
