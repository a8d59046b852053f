import { useIsConnected } from '../shared/api/connection.ts'
import { Icon } from '../shared/view/icons.tsx'
import classes from './frame.module.css'

/** Shows a message for as long as the service cannot be reached. */
export function Connection() {
  const isConnected = useIsConnected()
  return (
    <div role="status" className={classes.connection} data-lost={!isConnected || undefined}>
      {!isConnected && (
        <>
          <Icon name="alert" size={16} />
          <span>
            The service cannot be reached. What you entered stays, and the console continues when it
            is back.
          </span>
        </>
      )}
    </div>
  )
}
