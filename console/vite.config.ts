import react from '@vitejs/plugin-react'

// Vite asks for a default export; plain data otherwise.
// biome-ignore lint/style/noDefaultExport: see above
export default {
  base: '/console/',
  plugins: [react()],
  build: {
    target: 'es2022',
    sourcemap: false,
    reportCompressedSize: false,
    // Emit pictures and fonts as files, never inlined in a style sheet.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'vendor', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// },
          ],
        },
      },
    },
  },
}
